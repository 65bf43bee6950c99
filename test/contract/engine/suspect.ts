/** Documents that kill their process, and documents that only happened to be there. */
import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { Database } from '../../../src/store/driver/database.ts';
import type {
  EngineFixture,
  EngineTest,
  StartOptions,
  Steps,
} from '../../support/engine-fixture.ts';

const { crashesMin, loneDeathsMax, uptimesMs } = limits.suspect;
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** Engines on one store, one alive at a time; each dies on command. */
class Mortals {
  readonly #bench: EngineFixture;
  #pid = 10;
  #kill: () => void = () => undefined;

  constructor(bench: EngineFixture) {
    this.#bench = bench;
  }

  /** The process is gone: nothing reaches the store or the process. */
  kill(): void {
    this.#kill();
  }

  async start(steps: Steps, options: StartOptions = {}): Promise<void> {
    const bench = this.#bench;
    const { database: inner } = bench.store;
    let isDead = false;
    const { promise: death, reject: die } = Promise.withResolvers<never>();
    death.catch(() => undefined);
    const answer = <T>(promise: Promise<T>): Promise<T> =>
      promise.finally(() => (isDead ? never<void>() : undefined));
    const database: Database = {
      ...inner,
      run: (...asked) => (isDead ? never() : answer(inner.run(...asked))),
      // Open transactions of a dead process are rolled back.
      write: (work) =>
        isDead ? never() : answer(inner.write((tx) => Promise.race([work(tx), death]))),
    };
    const pid = ++this.#pid;
    const engine = await bench.start(steps, { ...options, database, pid });
    this.#kill = () => {
      isDead = true;
      die(new Error('the process has died'));
      bench.abandon(engine);
      bench.store.livingPids.delete(pid);
    };
  }
}

async function failures(bench: EngineFixture): Promise<(string | null)[]> {
  const rows = await bench.store.rows<{ error: string | null }>(
    "SELECT error FROM items WHERE step = 'failed' ORDER BY id",
  );
  return rows.map(({ error }) => error && JSON.parse(error).code);
}

const inline = (source: string) => ({ kind: 'inline' as const, source });

export const suspectTests: readonly EngineTest[] = [
  [
    'a document that kills its process is blamed when it has done so alone, and no other is',
    async (bench) => {
      const mortals = new Mortals(bench);
      const running = new Set<string>();
      const company: number[] = [];
      const sources = ['one', 'two', 'poison', 'three'].map(inline);
      const job = await bench.store.submit({ sources });
      for (let death = 1; death <= crashesMin + loneDeathsMax; death += 1) {
        running.clear();
        const content_extracted: StepFunction = async ({ item }) => {
          // At first the others are in flight with it; later they could end.
          if (item.source !== 'poison') {
            running.add(item.source);
            if (death <= crashesMin) return never();
            running.delete(item.source);
            return {};
          }
          company.push(running.size);
          mortals.kill();
          return never();
        };
        await mortals.start({ content_extracted }, { places: 8 });
        await bench.world.until(`death ${death}`, async () => company.length === death);
      }
      await mortals.start({});
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await failures(bench), ['crashed_repeatedly']);
      assert.deepEqual(company.slice(crashesMin), Array(loneDeathsMax).fill(0));
      assert.equal((await bench.store.job(job.key)).items_done, 3);
    },
  ],
  [
    'repeated random kills of processes fail no document',
    async (bench) => {
      const mortals = new Mortals(bench);
      const job = await bench.store.submit({ items: 4 });
      const lifeMs = (uptimesMs[1] ?? 0) - 1;
      for (let death = 1; death <= 8; death += 1) {
        const runs = bench.runs.length;
        await mortals.start({ fetched: never }, { places: 8 });
        const isRunning = async () => bench.runs.length > runs;
        if (death <= crashesMin) await bench.world.until('a step to run', isRunning);
        await bench.world.advance(lifeMs);
        mortals.kill();
      }
      const deaths = await bench.store.rows<{ lone_deaths: number }>(
        'SELECT lone_deaths FROM items',
      );
      assert.deepEqual(
        deaths.map(({ lone_deaths }) => lone_deaths),
        [1, 1, 1, 1],
        'each was alone once',
      );
      await mortals.start({});
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual([await failures(bench), await bench.store.withoutCause()], [[], 0]);
    },
  ],
  [
    'a suspect is alone for one committed step, and finishes among the others',
    async (bench) => {
      const mortals = new Mortals(bench);
      const held: string[] = [];
      const look: StepFunction = async ({ item }) => {
        const rows = await bench.store.rows<{ id: number }>(
          "SELECT id FROM items WHERE waits_on = 'worker'",
        );
        held.push(`${item.id === job.ids[0] ? 'suspect' : 'other'} of ${rows.length}`);
        return {};
      };
      const job = await bench.store.submit({ items: 3 });
      const ids = { id: job.ids[0] ?? 0 };
      await bench.store.database.write((transaction) =>
        transaction.run({ text: `UPDATE items SET crashes = ${crashesMin} WHERE id = :id` }, ids),
      );
      await mortals.start({ fetched: look, content_extracted: look }, { places: 1 });
      await bench.untilJob(job, 'succeeded');
      const own = held.filter((line) => line.startsWith('suspect'));
      assert.deepEqual(own, ['suspect of 1', 'suspect of 1']);
      const started = (await bench.store.events()).filter(
        ({ kind, itemId, step }) =>
          kind === 'step_started' && itemId === job.ids[0] && step === 'content_extracted',
      );
      assert.equal(started.length, 2, 'it was returned, and claimed again');
      assert.deepEqual(bench.errors, []);
    },
  ],
];
