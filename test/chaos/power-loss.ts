/**
 * Cuts the power right after each acknowledgement. A submitter runs under strace; its writes and
 * flushes are replayed onto a disk that forgets; the store is opened from what is left, and
 * everything acknowledged by then must be in it. Killing processes can never show this: the system
 * keeps their writes.
 */
import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { assemble } from '../../src/app/wire.ts';
import type { BlobStore } from '../../src/blob/blob.ts';
import { toFailure } from '../../src/kernel/failure/failure.ts';
import { type PackedText, unpackText } from '../../src/store/driver/packing.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { makeDirectory, removeDirectory } from '../support/temporary.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { Disk } from './disk.ts';
import { parseTrace, type SystemCall, tracedCalls } from './system-call.ts';
import { textOf, uploadOf } from './workload.ts';

export type Flushes = 'log' | 'files' | 'folders';

export interface PowerLossOptions {
  readonly jobs: number;
  readonly seed: number;
  /** Replays the same writes as if these flushes of log or blobs were missing. */
  readonly without: readonly (Flushes | 'nothing')[];
}

export interface PowerLossResult {
  /** Stores that were opened after a cut. */
  readonly states: number;
  /** Stores in which something acknowledged was missing. */
  readonly lost: number;
  /** Stores that could not be opened. */
  readonly unreadable: number;
}

const execute = promisify(execFile);
const writer = fileURLToPath(new URL('./power-loss-writer.ts', import.meta.url));

export async function cutPower(options: PowerLossOptions): Promise<PowerLossResult[]> {
  const directory = realpathSync(makeDirectory());
  try {
    const calls = await traceWriter(directory, options.jobs);
    const results: PowerLossResult[] = [];
    for (const without of options.without) {
      const kept = calls.filter((call) => flushOf(call) !== without);
      // For a store without flushes, one loss is proof enough.
      const lossesMax = without === 'nothing' ? Number.POSITIVE_INFINITY : 1;
      results.push(await replay(kept, { directory, lossesMax, seed: options.seed }));
    }
    return results;
  } finally {
    removeDirectory(directory);
  }
}

function flushOf(call: SystemCall): Flushes | undefined {
  if (call.kind !== 'sync') return undefined;
  if (call.path.endsWith('-wal')) return 'log';
  if (!call.path.includes('/blobs')) return undefined;
  return call.path.endsWith('.part') ? 'files' : 'folders';
}

async function traceWriter(directory: string, jobs: number): Promise<SystemCall[]> {
  const trace = join(directory, 'trace');
  const follow = ['-f', '-y', '-xx', '-s', '10000000', '-e', `trace=${tracedCalls}`, '-o', trace];
  const child = [process.execPath, writer, '--data', directory, '--acks', join(directory, 'acks')];
  await execute('strace', [...follow, ...child, '--jobs', String(jobs)]);
  return parseTrace(readFileSync(trace, 'latin1'));
}

interface Acknowledged {
  readonly jobKey: string;
  readonly version: number;
}

async function replay(
  calls: readonly SystemCall[],
  { directory, lossesMax, seed }: { directory: string; lossesMax: number; seed: number },
): Promise<PowerLossResult> {
  const chance = chanceFrom(seed);
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
      if (tally.lost + tally.unreadable >= lossesMax) return tally;
    }
  }
  return tally;
}

const bodiesOf = sql<PackedText & { kind: string }>`
  SELECT inputs.kind, inputs.body, inputs.packed FROM jobs JOIN items ON items.job_id = jobs.id
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
        if (!inline || unpackText(inline) !== textOf({ source: 1, version })) return 'lost';
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
