/**
 * Makes a release: `npm run release -- 0.2.0` gives the changes under "Unreleased" that version and
 * today's date, sets the version of the package, and commits and tags both. Pushing the tag
 * publishes. `--notes` prints the notes of the present version.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { notesOf, releaseChangelog, requireNext } from './release-notes.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const changelogFile = `${root}CHANGELOG.md`;
const { version: present } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const [wanted] = process.argv.slice(2);

try {
  const changelog = readFileSync(changelogFile, 'utf8');
  if (wanted === '--notes') process.stdout.write(notesOf(changelog, present));
  else release(changelog, wanted);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

function release(changelog: string, version: string | undefined): void {
  const next = requireNext(present, version, git('tag', '--list').split('\n'));
  if (git('status', '--porcelain') !== '') throw new Error('commit or stash your changes first');
  if (git('branch', '--show-current') !== 'main') throw new Error('releases are made on main');
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(changelogFile, releaseChangelog(changelog, next, today));
  execFileSync('npm', ['version', '--no-git-tag-version', '--allow-same-version', next], {
    cwd: root,
    stdio: 'ignore',
    shell: process.platform === 'win32',
  });
  git('commit', '--all', '--message', `release: version ${next}`);
  git(
    'tag',
    '--annotate',
    `v${next}`,
    '--message',
    notesOf(readFileSync(changelogFile, 'utf8'), next),
  );
  process.stdout.write(`v${next} is committed and tagged. Publish it: git push --follow-tags\n`);
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}
