/** The cost of a claim of 64 items with few, many and very many waiting items. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { StoreLedger } from '../../src/engine/item/store-ledger.ts';
import { item } from '../../src/kernel/lifecycle/item.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { registerWorker } from '../../src/store/item/workers.ts';
import { answer } from '../measure/child.ts';
import { noiseOf, type Reading, spread } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';
import {
  engineOver,
  openStore,
  pipelineOf,
  type Store,
  settleStatistics,
  submit,
  world,
} from './pawl.ts';

interface Request {
  readonly store: Store;
  /** Queue lengths, the shortest first. */
  readonly depths: readonly number[];
  readonly rounds: number;
}

const perJobMax = 100_000;
const claimed = 64;
const warmUpRounds = 30;
const worker = 'bench';

await answer<Request>(measureClaims);

interface Queue {
  readonly depth: number;
  readonly ledger: StoreLedger;
  readonly times: number[];
}

/** The queues take turns, so that other load on the machine affects all of them alike. */
async function measureClaims({ store, depths, rounds }: Request): Promise<Reading[]> {
  const queues: Queue[] = [];
  for (const depth of depths) queues.push(await fillQueue(store, depth));
  const claimRounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++) {
      for (const { ledger, times } of queues) times.push(await claimAndReturn(ledger));
    }
  };
  await claimRounds(warmUpRounds);
  for (const { times } of queues) times.length = 0;
  const usage = await measured(() => claimRounds(rounds), store.serverPid);
  const readings = queues.map(({ depth, times }) =>
    spread(`claim-${depth}`, times, noiseOf(usage)),
  );
  const first = readings[0]?.value ?? Number.NaN;
  const last = readings.at(-1)?.value ?? Number.NaN;
  const measure = `claim-ratio-${depths.at(-1)}`;
  return [...readings, { measure, value: last / first, cost: noiseOf(usage) }];
}

async function fillQueue(store: Store, depth: number): Promise<Queue> {
  const database = await openStore(await ownStore(store, depth), item);
  const engine = engineOver(database, pipelineOf(item));
  await register(database);
  for (let queued = 0; queued < depth; queued += perJobMax) {
    await submit(engine, queued, Math.min(perJobMax, depth - queued));
  }
  await settleStatistics(database);
  const ledger = new StoreLedger({ database, lifecycle: item, world, ring: () => undefined });
  return { depth, ledger, times: [] };
}

/** A separate file, or a separate schema in the database. */
async function ownStore(store: Store, depth: number): Promise<Store> {
  const name = `depth_${depth}`;
  if (store.url === undefined) return { directory: join(store.directory, name) };
  const client = new pg.Client({ connectionString: store.url });
  await client.connect();
  await client.query(`CREATE SCHEMA ${name}`);
  await client.end();
  const options = encodeURIComponent(`-c search_path=${name}`);
  return { ...store, url: `${store.url}?options=${options}` };
}

/** Milliseconds of the claim alone; the items return to their positions in the queue. */
async function claimAndReturn(ledger: StoreLedger): Promise<number> {
  const startedAt = performance.now();
  const rows = await ledger.claim(worker, { count: claimed });
  const elapsed = performance.now() - startedAt;
  if (rows.length !== claimed) throw new Error(`claimed ${rows.length} items of ${claimed}`);
  await ledger.handBack(rows.map(({ id, epoch }) => ({ id, epoch })));
  return elapsed;
}

async function register(database: Database): Promise<void> {
  const row = { id: worker, host: hostname(), pid: process.pid, process_started: '' };
  await database.write((transaction) =>
    registerWorker(transaction, { ...row, beat_at: database.now() }),
  );
}
