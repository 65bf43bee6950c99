/** Transitions per second of this server: a fenced UPDATE and the INSERT of its event. */
import pg from 'pg';
import { answer } from '../measure/child.ts';
import { noiseOf, type Reading, rate, spread } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';
import type { Store } from './pawl.ts';

interface Request {
  readonly store: Store;
  readonly seconds: number;
}

/** Each connection moves its own items, so that none waits for another's row lock. */
const itemsPerConnection = 20_000;
const batch = 100;
const batchedConnections = 2;
const singleConnections = 16;

const transit = `WITH moved AS (
  UPDATE items SET step = r.step, epoch = items.epoch + 1, moved_at = $4
  FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS r(id, step, epoch)
  WHERE items.id = r.id AND items.epoch = r.epoch RETURNING items.id, items.job_id)
  INSERT INTO events (at, kind, job_id, item_id, detail)
  SELECT $4, 'step_completed', job_id, id, '{"duration_ms":0}' FROM moved`;

await answer<Request>(measurePostgres);

async function measurePostgres({ store, seconds }: Request): Promise<Reading[]> {
  const clients = await Promise.all(
    Array.from({ length: singleConnections }, async () => {
      const client = new pg.Client({ connectionString: store.url });
      await client.connect();
      return client;
    }),
  );
  await prepareTables(clients[0] as pg.Client);
  const lanes = clients.map((client, index) => laneOf(client, index * itemsPerConnection));
  const run = (count: number, connections: number) =>
    repeat(lanes.slice(0, connections), { count, seconds, serverPid: store.serverPid });
  const batched = await run(batch, batchedConnections);
  const single = await run(1, singleConnections);
  const alone = await run(1, 1);
  const connections = (count: number): string => `over ${count} connections`;
  return [
    rate(
      'raw-batched',
      batched.times.length * batch,
      batched.usage,
      `${batch} in a commit, ${connections(batchedConnections)}`,
    ),
    rate(
      'raw-single',
      single.times.length,
      single.usage,
      `each its own commit, ${connections(singleConnections)}`,
    ),
    spread('raw-commit', alone.times, noiseOf(alone.usage)),
  ];
}

async function prepareTables(client: pg.Client): Promise<void> {
  await client.query(`CREATE TABLE items (id BIGINT PRIMARY KEY, job_id BIGINT NOT NULL,
    step TEXT NOT NULL, epoch BIGINT NOT NULL, moved_at BIGINT NOT NULL) WITH (fillfactor = 45)`);
  await client.query(`CREATE TABLE events (seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL, kind TEXT NOT NULL, job_id BIGINT NOT NULL, item_id BIGINT NOT NULL,
    detail JSONB)`);
  await client.query('CREATE INDEX events_job ON events (job_id, seq)');
  const items = itemsPerConnection * singleConnections;
  await client.query(`INSERT INTO items SELECT id, id % 100, 'enqueued', 0, 0
    FROM generate_series(0, ${items - 1}) AS id`);
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
}

type Commit = (count: number) => Promise<void>;

/** Commits of one connection, which cycle through its own items. */
function laneOf(client: pg.Client, first: number): Commit {
  let moved = 0;
  return async (count) => {
    const places = Array.from({ length: count }, (_, index) => moved + index);
    const ids = places.map((place) => first + (place % itemsPerConnection));
    const epochs = places.map((place) => Math.floor(place / itemsPerConnection));
    const steps = epochs.map((epoch) => (epoch % 2 === 0 ? 'fetched' : 'chunked'));
    const values = [`{${ids}}`, `{${steps}}`, `{${epochs}}`, Date.now()];
    const result = await client.query({ name: 'transit', text: transit, values });
    if (result.rowCount !== count) throw new Error('the fence did not match');
    moved += count;
  };
}

async function repeat(
  lanes: readonly Commit[],
  { count, seconds, serverPid }: { count: number; seconds: number; serverPid?: number | undefined },
) {
  const times: number[] = [];
  const usage = await measured(async () => {
    const end = performance.now() + seconds * 1000;
    const drive = async (commit: Commit): Promise<void> => {
      for (let now = performance.now(); now < end; ) {
        const startedAt = now;
        await commit(count);
        now = performance.now();
        times.push(now - startedAt);
      }
    };
    await Promise.all(lanes.map(drive));
  }, serverPid);
  return { times, usage };
}
