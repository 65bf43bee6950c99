import assert from 'node:assert/strict';
import { Dispatcher } from '../../../src/engine/item/dispatcher.ts';
import type { Ledger } from '../../../src/engine/item/ledger.ts';
import { StoreLedger } from '../../../src/engine/item/store-ledger.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';

const places = 16;
const { refillMs } = limits.loop;

/** A dispatcher whose items end when a test says so, and a record of its claims. */
async function setup({ store, world, errors }: EngineFixture) {
  const { database, lifecycle } = store;
  const worker = 'porter';
  await store.register(worker);
  const own = new StoreLedger({ database, lifecycle, world, ring: () => undefined });
  const claims: number[] = [];
  const claim: Ledger['claim'] = async (...asked) => {
    const rows = await own.claim(...asked);
    claims.push(rows.length);
    return rows;
  };
  const running = new Map<number, () => void>();
  const dispatcher = new Dispatcher({
    ...{ database, lifecycle, world, workers: places },
    ledger: Object.assign(Object.create(own), { claim }),
    run: ({ id }, signal) =>
      new Promise((resolve) => {
        const end = (): void => {
          running.delete(id);
          resolve('ended');
        };
        running.set(id, end);
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
      }),
    onGivenUp: async () => undefined,
    onError: (what, error) => errors.push(`${what}: ${String(error)}`),
  });
  store.onRelease(() => dispatcher.stop());
  const finish = async (count: number): Promise<void> => {
    for (const end of [...running.values()].slice(0, count)) end();
    await world.settle();
  };
  /** The claims since the last call. */
  const claimed = (): number[] => claims.splice(0);
  const start = async (): Promise<void> => {
    dispatcher.start(worker);
    await world.settle();
  };
  return { dispatcher, running, finish, claimed, start };
}

export const placeTests: readonly EngineTest[] = [
  [
    'if most slots are taken, free ones are filled together',
    async (bench) => {
      const { running, finish, claimed, start } = await setup(bench);
      await bench.store.submit({ items: 40 });
      await start();
      assert.deepEqual(claimed(), [places / 2, places / 2]);
      await finish(1);
      await finish(2);
      assert.deepEqual(claimed(), [], 'they wait for others');
      await bench.world.advance(refillMs);
      assert.deepEqual(claimed(), [3]);
      await finish(places / 4);
      assert.deepEqual(claimed(), [places / 4], 'so many are not waited for');
      await bench.world.advance(refillMs);
      assert.equal(running.size, places);
      assert.deepEqual([claimed(), bench.errors], [[], []]);
    },
  ],
  [
    'a stopped dispatcher leaves nothing behind, and can be started again',
    async (bench) => {
      const { dispatcher, running, finish, claimed, start } = await setup(bench);
      await bench.store.submit({ items: 40 });
      for (let time = 1; time <= 2; time++) {
        await start();
        assert.equal(running.size, places);
        claimed();
        // Stopped while a free slot waits for others.
        await finish(1);
        await dispatcher.stop();
        assert.deepEqual([running.size, bench.world.pendingTimers], [0, 0]);
      }
      await bench.store.submit({ items: 40 });
      await start();
      claimed();
      await finish(1);
      await bench.world.advance(refillMs);
      assert.deepEqual([claimed(), bench.errors], [[1], []]);
    },
  ],
];
