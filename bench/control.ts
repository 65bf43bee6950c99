/**
 * A job of 100,000 items is stopped while two engines work on it: the duration of the first
 * request, the time until the last item has moved, the number of deadlocks in Postgres, and the
 * longest block of the event loop.
 */
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { realWorld } from '../src/app/world.ts';
import { item } from '../src/kernel/lifecycle/item.ts';
import type { Database } from '../src/store/driver/database.ts';
import { migrate } from '../src/store/driver/migrate.ts';
import { openPostgres } from '../src/store/driver/postgres.ts';
import { openSqlite } from '../src/store/driver/sqlite.ts';
import {
  type ControlScene,
  countDeadlocks,
  openControlScene,
  settled,
} from '../test/support/control-scene.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { makeDirectory, removeDirectory } from '../test/support/temporary.ts';
import type { Section } from './measure/figure.ts';

interface Options {
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

/** Items done before the job is stopped; with 0 it is stopped while all items wait. */
const doneBefore = { running: 100, waiting: 0 };

export async function benchControl(options: Options): Promise<Section[]> {
  const server = await startPostgres();
  const directory = makeDirectory();
  try {
    const url = await server.createDatabase();
    const open = () => openPostgres({ url });
    const path = join(directory, 'control.db');
    const world = realWorld();
    return [
      await measure('Postgres', [await open(), await open()], options),
      await measure('SQLite', [openSqlite({ path, world })], options),
    ];
  } finally {
    await server.stop();
    removeDirectory(directory);
  }
}

interface Stopped {
  readonly requestMs: number;
  readonly sweptMs: number;
  readonly heldMs: number;
}

async function measure(
  store: string,
  databases: readonly Database[],
  { isQuick, tell }: Options,
): Promise<Section> {
  const items = isQuick ? 5000 : 100_000;
  const tries = isQuick ? 2 : 4;
  const [database] = databases as readonly [Database];
  await migrate(database, item);
  const scene = await openControlScene(databases);
  const results: Record<string, Stopped[]> = { cancel: [], pause: [], 'cancel of waiting': [] };
  for (let trial = 1; trial <= tries; trial++) {
    for (const [name, of] of Object.entries(results)) {
      const key = await scene.submit(items);
      await scene.untilDone(key, doneBefore[name === 'cancel of waiting' ? 'waiting' : 'running']);
      const action = name === 'pause' ? 'pause' : 'cancel';
      const stopped = await stop(scene, database, key, action);
      of.push(stopped);
      const { requestMs, sweptMs, heldMs } = stopped;
      tell(`${store}, ${name}, ${trial}/${tries}: ${[requestMs, sweptMs, heldMs].map(Math.round)}`);
      if (action === 'pause') await stop(scene, database, key, 'cancel');
    }
  }
  await scene.stop();
  const deadlocks = await countDeadlocks(database);
  for (const each of databases) await each.close();
  const worst = (of: readonly Stopped[], pick: (one: Stopped) => number): number =>
    Math.max(...of.map(pick));
  return {
    title: `A job of ${items} items is stopped on ${store}`,
    note: `Worst of ${tries}, with ${databases.length} engines at work on it.`,
    figures: [
      ...Object.entries(results).flatMap(([name, of]) => [
        ms(
          `${name}: the request`,
          worst(of, ({ requestMs }) => requestMs),
          2000,
        ),
        ms(
          `${name}: the last item moved`,
          worst(of, ({ sweptMs }) => sweptMs),
        ),
        ms(
          `${name}: the event loop held`,
          worst(of, ({ heldMs }) => heldMs),
          250,
        ),
      ]),
      { name: 'deadlocks', value: deadlocks, digits: 0, target: { atMost: 0 } },
      { name: 'errors', value: scene.errors.length, digits: 0, target: { atMost: 0 } },
    ],
  };
}

function ms(name: string, value: number, atMost?: number) {
  return { name, value, digits: 0, unit: 'ms', ...(atMost && { target: { atMost } }) };
}

async function stop(
  scene: ControlScene,
  database: Database,
  key: string,
  action: 'cancel' | 'pause',
): Promise<Stopped> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const before = performance.now();
  await scene.engines[0]?.commands[action]('ann', key);
  const requestMs = performance.now() - before;
  await settled(database, key);
  const sweptMs = performance.now() - before;
  delay.disable();
  return { requestMs, sweptMs, heldMs: delay.max / 1e6 };
}
