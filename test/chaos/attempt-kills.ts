/**
 * Kills processes during an attempt's commit, at random times and right before and after the
 * transaction, and checks what the next start finds: the whole batch or nothing, and no workspace.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open, type Pawl } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import type { sql } from '../../src/store/driver/statement.ts';
import { makeDirectory, removeDirectory } from '../support/temporary.ts';
import type { CommitterMessage } from './attempt-committer.ts';

export interface AttemptKills {
  readonly kills: number;
  readonly whole: number;
  readonly none: number;
  /** Rounds that ended before the kill; they are not counted as kills. */
  readonly escaped: number;
  readonly problems: readonly string[];
}

const filesInBatch = 24;
const program = fileURLToPath(new URL('./attempt-committer.ts', import.meta.url));

/** In turns: at a random time, right before the commit, right after it. */
const edges = [undefined, undefined, 'submit.before-commit:kill', 'submit.after-commit:kill'];

export async function killAttempts(options: {
  readonly kills: number;
  readonly random: () => number;
}): Promise<AttemptKills> {
  const directory = makeDirectory();
  try {
    return await runRounds(directory, options);
  } finally {
    removeDirectory(directory);
  }
}

async function runRounds(
  directory: string,
  { kills, random }: { readonly kills: number; readonly random: () => number },
): Promise<AttemptKills> {
  const place = { data: join(directory, 'data'), files: join(directory, 'files') };
  writeFiles(place.files);
  await runOnce(place, 'first', {});
  // The second run finds the bytes already stored, as all later ones do: its time is the commit's.
  const measured = await runOnce(place, 'unharmed', {});
  const expected = await look(place.data, 'unharmed');
  const problems = expected.found === 'whole' ? [] : ['the unharmed batch is not whole'];
  const counts = { whole: 0, none: 0, escaped: 0 };
  // A round may end before its kill; this many tries must be enough.
  for (let round = 0; counts.whole + counts.none < kills && round < kills * 3; round += 1) {
    const corpus = `round-${round}`;
    const failpoint = edges[round % edges.length];
    const killAfterMs = random() * measured.commitMs * 1.2;
    const { isKilled } = await runOnce(place, corpus, { failpoint, killAfterMs });
    const { found, folders, rows } = await look(place.data, corpus);
    if (folders > 0) problems.push(`${corpus}: ${folders} workspaces are left`);
    if (found === 'torn') problems.push(`${corpus}: torn, ${JSON.stringify(rows)}`);
    else if (isKilled && JSON.stringify(rows) !== expectedRows(found, expected.rows)) {
      problems.push(`${corpus}: ${found}, but with ${JSON.stringify(rows)}`);
    }
    if (!isKilled) counts.escaped += 1;
    else if (found !== 'torn') counts[found] += 1;
  }
  return { kills: counts.whole + counts.none, ...counts, problems };
}

function writeFiles(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (let file = 0; file < filesInBatch; file += 1) {
    const line = `Document ${file} says that the heron of reed ${file * 7} waits for water.\n\n`;
    writeFileSync(join(folder, `note-${file}.txt`), line.repeat(300));
  }
}

interface Round {
  readonly failpoint?: string | undefined;
  readonly killAfterMs?: number | undefined;
}

async function runOnce(
  { data, files }: { readonly data: string; readonly files: string },
  corpus: string,
  { failpoint, killAfterMs }: Round,
): Promise<{ readonly isKilled: boolean; readonly commitMs: number }> {
  const args = ['--data', data, '--files', files, '--corpus', corpus];
  if (failpoint !== undefined) args.push('--failpoint', failpoint);
  const child = fork(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  let begunAt = 0;
  let commitMs = 0;
  const committing = new Promise<void>((resolve) => {
    child.on('message', (message: CommitterMessage) => {
      if (message === 'committed') commitMs = performance.now() - begunAt;
      if (message !== 'committing' || begunAt > 0) return;
      begunAt = performance.now();
      resolve();
    });
  });
  await Promise.race([committing, ended]);
  if (failpoint === undefined && killAfterMs !== undefined) {
    await pause(killAfterMs);
    child.kill('SIGKILL');
  }
  const [, signal] = await ended;
  return { isKilled: signal === 'SIGKILL', commitMs };
}

type Rows = Readonly<Record<string, number>>;

/** What the next start finds of a batch. Opening the store is that start. */
async function look(data: string, corpus: string) {
  const pawl = await open({ data, work: false });
  try {
    const rows = await countRows(pawl, corpus);
    return { found: verdictOn(rows), rows, folders: readdirSync(join(data, 'attempts')).length };
  } finally {
    await pawl.close();
  }
}

function verdictOn(rows: Rows): 'whole' | 'none' | 'torn' {
  const counts = Object.values(rows);
  if (counts.every((count) => count === 0)) return 'none';
  const isWhole = rows.items === filesInBatch && counts.every((count) => count > 0);
  return isWhole ? 'whole' : 'torn';
}

async function countRows(pawl: Pawl, corpus: string): Promise<Rows> {
  const items = `(SELECT id FROM items WHERE corpus = '${corpus}')`;
  const counts: Readonly<Record<string, string>> = {
    items: `items WHERE corpus = '${corpus}'`,
    chunks: `chunks WHERE generation_id IN ${items}`,
    texts: `texts WHERE generation_id IN ${items}`,
    fetches: `fetches WHERE generation_id IN ${items}`,
    turns: `turns WHERE item_id IN ${items}`,
    events: `events WHERE item_id IN ${items}`,
    jobs: `jobs WHERE corpus = '${corpus}'`,
    corpora: `corpora WHERE name = '${corpus}'`,
  };
  const found = Object.entries(counts).map(async ([name, from]): Promise<[string, number]> => {
    const statement = { text: `SELECT COUNT(*) AS count FROM ${from}` };
    const [row] = await sessionOf(pawl).store.run(
      statement as ReturnType<typeof sql<{ count: number }>>,
    );
    return [name, Number(row?.count)];
  });
  return Object.fromEntries(await Promise.all(found));
}

function expectedRows(found: 'whole' | 'none', unharmed: Rows): string {
  if (found === 'whole') return JSON.stringify(unharmed);
  return JSON.stringify(Object.fromEntries(Object.keys(unharmed).map((name) => [name, 0])));
}
