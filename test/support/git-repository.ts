/** A git repository on this machine that a test changes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface TestRepository {
  readonly folder: string;
  git(...args: readonly string[]): string;
  write(texts: Readonly<Record<string, string>>): void;
  remove(name: string): void;
  commit(): void;
}

export function makeRepository(folder: string): TestRepository {
  mkdirSync(folder, { recursive: true });
  const env = {
    PATH: process.env.PATH,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@a.example',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@a.example',
  };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', folder, ...args], { env, encoding: 'utf8', stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  const commit = (): void => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', 'change');
  };
  commit();
  return {
    folder,
    git,
    commit,
    write(texts) {
      for (const [name, text] of Object.entries(texts)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      commit();
    },
    remove(name) {
      rmSync(join(folder, name));
      commit();
    },
  };
}
