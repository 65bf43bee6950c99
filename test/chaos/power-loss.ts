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
import type { BlobStore } from '../../src/blob/blob.ts';
import { toFailure } from '../../src/kernel/failure.ts';
import { assemble } from '../../src/main.ts';
import { sql } from '../../src/store/statement.ts';
import { makeDirectory, removeDirectory } from '../support/temporary.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { Disk } from './disk.ts';
import { parseTrace, type SystemCall, tracedCalls } from './system-call.ts';
import { textOf, uploadOf } from './workload.ts';

export interface PowerLossOptions {
  readonly jobs: number;
  readonly seed: number;
  readonly synchronous: 'FULL' | 'NORMAL';
  /** As if blobs were written without these flushes. */
  readonly without?: 'files' | 'folders' | undefined;
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
    const kept = calls.filter((call) => !isLeftOut(call, options));
    return await replay(kept, directory, chanceFrom(options.seed));
  } finally {
    removeDirectory(directory);
  }
}

function isLeftOut(call: SystemCall, { without }: PowerLossOptions): boolean {
  if (without === undefined || call.kind !== 'sync' || !call.path.includes('/blobs')) return false;
  return (without === 'files') === call.path.endsWith('.part');
}

async function traceWriter(directory: string, options: PowerLossOptions): Promise<SystemCall[]> {
  const { jobs, synchronous } = options;
  const trace = join(directory, 'trace');
  const follow = ['-f', '-y', '-xx', '-s', '10000000', '-e', `trace=${tracedCalls}`, '-o', trace];
  const child = [process.execPath, writer, '--data', directory, '--acks', join(directory, 'acks')];
  const settings = ['--jobs', String(jobs), '--synchronous', synchronous];
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

const bodiesOf = sql<{ kind: string; body: string }>`
  SELECT inputs.kind, inputs.body FROM jobs JOIN items ON items.job_id = jobs.id
  JOIN inputs ON inputs.item_id = items.id WHERE jobs.key = :key ORDER BY items.id`;

/** Undefined: they are gone. */
async function bytesOf(blobs: BlobStore, key: string): Promise<string | undefined> {
  try {
    return Buffer.from(await blobs.get(key)).toString();
  } catch (error) {
    if (toFailure(error).code === 'source_missing') return undefined;
    throw error;
  }
}

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
        const [inline, upload] = await store.database.run(bodiesOf, { key: jobKey });
        if (inline?.body !== textOf({ source: 1, version })) return 'lost';
        if ((await bytesOf(store.blobs, upload?.body ?? '')) !== uploadOf(version)) return 'lost';
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
