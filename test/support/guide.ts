/** Extracts the commands of a guide from its Markdown and runs them with bash, unchanged. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { patience } from './patience.ts';
import { type Identity, unprivilegedIdentity } from './server.ts';
import type { Cleanup } from './temporary.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Block {
  /** The headings above it, the nearest last. */
  readonly headings: readonly string[];
  readonly line: number;
  readonly text: string;
}

/** Every ```sh block of a page, in its order. */
export function shellBlocks(page: string): Block[] {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  const blocks: Block[] = [];
  const headings: string[] = [];
  let open: { language: string; line: number; text: string[] } | undefined;
  for (const [at, line] of lines.entries()) {
    const [, language] = /^```(\S*)/.exec(line) ?? [];
    const [, marks = '', title = ''] = (!open && /^(#+) (.+)$/.exec(line)) || [];
    if (title !== '') headings.splice(marks.length - 1, Infinity, title);
    if (language === undefined) open?.text.push(line);
    else if (!open) open = { language, line: at + 2, text: [] };
    else {
      const { text, ...rest } = open;
      const { language: of, line: first } = rest;
      if (of === 'sh') blocks.push({ headings: [...headings], line: first, text: text.join('\n') });
      open = undefined;
    }
  }
  return blocks;
}

export interface GuideRun {
  readonly code: number | null;
  /** The output of each block, in order; nothing for blocks that were not reached. */
  readonly outputs: readonly string[];
  /** Everything that helps to understand a failure. */
  readonly report: string;
}

export interface GuideOptions {
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Files whose last lines explain a failure: a pattern below the home. */
  readonly logs: string;
}

const marker = '@@ block ';

/** Runs the blocks in one shell of an ordinary user, and stops at the first failed command. */
export async function followGuide(
  t: Cleanup,
  blocks: readonly Block[],
  { home, environment, logs }: GuideOptions,
): Promise<GuideRun> {
  const identity = unprivilegedIdentity();
  const script = join(home, 'guide.sh');
  const marked = blocks.map(({ text }, at) => `printf '\\n${marker}${at}\\n'\n${text}\n`);
  writeFileSync(script, `set -e -o pipefail\n${marked.join('')}`);
  if (identity) spawnSync('chown', ['-hR', `${identity.uid}:${identity.gid}`, home]);
  const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', NO_COLOR: '1' };
  // Its own process group: everything that the guide starts ends with it.
  const shell = spawn('bash', [script], {
    ...{ cwd: home, detached: true, stdio: ['ignore', 'pipe', 'pipe'], ...identity },
    env: { ...env, ...environment },
  });
  const end = (): void => endGroup(shell.pid);
  process.once('exit', end);
  t.after(() => {
    process.off('exit', end);
    end();
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    shell[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const hang = setTimeout(end, patience.testMs);
  const [code] = (await once(shell, 'close')) as [number | null];
  clearTimeout(hang);
  const outputs = said.stdout.split(new RegExp(`\n${marker}\\d+\n`)).slice(1);
  const at = blocks[outputs.length - 1];
  const tails = globSync(join(home, logs)).map((path) => tailOf(path));
  const where = `ended (${code}) in the block of line ${at?.line}:\n${at?.text}`;
  return { code, outputs, report: [where, said.stdout, said.stderr, ...tails].join('\n') };
}

/** Undefined if an ordinary user can run the Pawl of this checkout; else why not. */
export function whyNotReadable(identity: Identity | undefined): string | undefined {
  const asked = spawnSync('test', ['-x', join(root, 'bin/pawl')], { ...identity });
  return asked.status === 0 ? undefined : `an ordinary user cannot read ${root}`;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function tailOf(path: string): string {
  return `--- ${basename(path)}\n${readFileSync(path, 'utf8').slice(-2_000)}`;
}
