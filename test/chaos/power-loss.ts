/**
 * The power is cut right after each acknowledgement. A submitter runs under strace; its writes and
 * flushes are played back onto a disk that forgets; the store is opened from what is left, and
 * everything that was acknowledged by then must be in it. Killing processes can never show this:
 * the system keeps their writes.
 */
import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { assemble } from '../../src/main.ts';
import { sql } from '../../src/store/statement.ts';
import { makeDirectory, removeDirectory } from '../support/temporary.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { Disk } from './disk.ts';
import { parseTrace, type SystemCall, tracedCalls } from './system-call.ts';
import { textOf } from './workload.ts';

export interface PowerLossOptions {
  readonly jobs: number;
  readonly seed: number;
  /** Without, it shows what would be lost if the store did not flush its log. */
  readonly isFlushed: boolean;
}

export interface PowerLossResult {
  /** Stores that were opened after a cut. */
  readonly states: number;
  /** Those of them in which something acknowledged was missing. */
  readonly lost: number;
  /** Those of them that could not be opened. */
  readonly unreadable: number;
}

const execute = promisify(execFile);
const writer = fileURLToPath(new URL('./power-loss-writer.ts', import.meta.url));

export async function cutPower(options: PowerLossOptions): Promise<PowerLossResult> {
  const directory = realpathSync(makeDirectory());
  try {
    const calls = await traceWriter(directory, options);
    return await replay(calls, directory, chanceFrom(options.seed));
  } finally {
    removeDirectory(directory);
  }
}

async function traceWriter(directory: string, options: PowerLossOptions): Promise<SystemCall[]> {
  const { jobs, isFlushed } = options;
  const trace = join(directory, 'trace');
  const follow = ['-f', '-y', '-xx', '-s', '10000000', '-e', `trace=${tracedCalls}`, '-o', trace];
  const child = [process.execPath, writer, '--data', directory, '--acks', join(directory, 'acks')];
  const settings = ['--jobs', String(jobs), ...(isFlushed ? [] : ['--unflushed'])];
  await execute('strace', [...follow, ...child, ...settings]);
  return parseTrace(readFileSync(trace, 'latin1'));
}

interface Acknowledged {
  readonly jobKey: string;
  readonly version: number;
}

async function replay(
  calls: readonly SystemCall[],
  directory: string,
  chance: Chance,
): Promise<PowerLossResult> {
  const disk = new Disk(join(directory, 'store'));
  const acknowledged: Acknowledged[] = [];
  const tally = { states: 0, lost: 0, unreadable: 0 };
  for (const call of calls) {
    disk.apply(call);
    if (call.kind !== 'write' || call.path !== join(directory, 'acks')) continue;
    const [, jobKey = '', version] = String(call.bytes).trim().split(' ');
    acknowledged.push({ jobKey, version: Number(version) });
    for (const survival of [undefined, chance]) {
      tally.states++;
      const verdict = await judgeState(disk, survival, acknowledged);
      if (verdict !== 'kept') tally[verdict]++;
    }
  }
  return tally;
}

const bodyOf = sql<{ body: string }>`
  SELECT inputs.body FROM jobs JOIN items ON items.job_id = jobs.id
  JOIN inputs ON inputs.item_id = items.id WHERE jobs.key = :key`;

async function judgeState(
  disk: Disk,
  survival: Chance | undefined,
  acknowledged: readonly Acknowledged[],
): Promise<'kept' | 'lost' | 'unreadable'> {
  const directory = makeDirectory();
  try {
    disk.writeTo(directory, survival);
    const store = await assemble({ data: directory });
    try {
      for (const { jobKey, version } of acknowledged) {
        const [row] = await store.database.run(bodyOf, { key: jobKey });
        if (row?.body !== textOf({ source: 1, version })) return 'lost';
      }
      return 'kept';
    } finally {
      await store.close();
    }
  } catch {
    return 'unreadable';
  } finally {
    removeDirectory(directory);
  }
}
