/** Steps that wait for services, each with its own slots; one service is away. */
import assert from 'node:assert/strict';
import type { Engine } from '../../../src/engine/engine.ts';
import type { StepService } from '../../../src/kernel/lifecycle/stage.ts';
import type { Pipeline, StepContext, StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { EngineFixture, EngineTest, StartOptions } from '../../support/engine-fixture.ts';
import type { Submitted } from '../../support/store-fixture.ts';

const places = 4;

/** As between services: a scraper fetches pages, and another service embeds texts. */
const stepServices: Pick<Pipeline, 'serviceOf' | 'expected'> = {
  serviceOf: async (step, { item }) => {
    if (step === 'embedded') return 'embedding';
    return step === 'fetched' && item.sourceKind === 'url' ? 'scraping' : 'here';
  },
  expected: (next, sourceKind) => {
    if (next.includes('fetched')) return sourceKind === 'url' ? 'scraping' : 'here';
    return next.includes('embedded') && !next.includes('chunked') ? 'embedding' : 'here';
  },
};

/** A service that answers when a test says so, in the order of its requests. */
class Service {
  readonly asked: { readonly source: string; readonly answer: () => void }[] = [];
  isAway = true;
  /** The sources of its requests, in order. */
  readonly order: string[] = [];

  readonly step: StepFunction = async (context) => {
    this.order.push(context.item.source);
    if (this.isAway) await this.#wait(context);
    return {};
  };

  #wait({ item, signal }: StepContext): Promise<void> {
    return new Promise((resolve, reject) => {
      this.asked.push({ source: item.source, answer: resolve });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  answerOne(): void {
    this.asked.shift()?.answer();
  }

  comeBack(): void {
    this.isAway = false;
    for (const { answer } of this.asked.splice(0)) answer();
  }
}

interface Setup {
  readonly scraper: Service;
  readonly embedding: Service;
  start(options?: StartOptions): Promise<Engine>;
}

function setup(bench: EngineFixture): Setup {
  const scraper = new Service();
  const embedding = new Service();
  const fetched: StepFunction = async (context) =>
    context.item.sourceKind === 'url' ? scraper.step(context) : {};
  const steps = { fetched, embedded: embedding.step };
  return {
    ...{ scraper, embedding },
    start: (options = {}) => bench.start(steps, { places, stepServices, ...options }),
  };
}

function pagesOf(bench: EngineFixture, caller: string, count: number): Promise<Submitted> {
  const sources = Array.from({ length: count }, (_, index) => {
    return { kind: 'url', source: `https://${caller}.example/${index}` } as const;
  });
  return bench.store.submit({ caller, sources });
}

async function queued({ store }: EngineFixture, service: StepService): Promise<number> {
  const rows = (await store.state()).service_queue as { service: StepService }[];
  return rows.filter((row) => row.service === service).length;
}

/** All except those with a slot there. */
async function untilQueued(bench: EngineFixture, service: StepService, count: number) {
  await bench.world.until(`${count} in the queue of ${service}`, async () => {
    return (await queued(bench, service)) === count;
  });
}

function countRuns(bench: EngineFixture, step: string): number {
  return bench.runs.filter((run) => run === step).length;
}

export const stepServiceTests: readonly EngineTest[] = [
  [
    'a service that is away does not stop the steps before it',
    async (bench) => {
      const { embedding, scraper, start } = setup(bench);
      scraper.isAway = false;
      await start();
      const job = await pagesOf(bench, 'ann', 5 * places);
      await untilQueued(bench, 'embedding', 4 * places);
      assert.equal(countRuns(bench, 'chunked'), 5 * places);
      // An item in a service queue holds no lease, and was not begun.
      assert.equal(embedding.asked.length, places);
      const leased = await bench.store.rows("SELECT id FROM items WHERE waits_on = 'worker'");
      assert.deepEqual([leased.length, await bench.store.withoutCause()], [places, 0]);
      embedding.comeBack();
      await bench.untilJob(job, 'succeeded');
      assert.equal(countRuns(bench, 'embedded'), 5 * places);
      assert.deepEqual([await queued(bench, 'embedding'), bench.errors], [0, []]);
    },
  ],
  [
    'an item that needs no service is not behind those that wait for one',
    async (bench) => {
      const { scraper, embedding, start } = setup(bench);
      embedding.isAway = false;
      await start();
      const pages = await pagesOf(bench, 'ann', 5 * places);
      await untilQueued(bench, 'scraping', 4 * places);
      const text = await bench.store.submit({ caller: 'bob', items: 2 });
      await bench.untilJob(text, 'succeeded');
      assert.equal(scraper.asked.length, places);
      scraper.comeBack();
      await bench.untilJob(pages, 'succeeded');
    },
  ],
  [
    'in a service queue callers keep their fair order, regardless of arrival',
    async (bench) => {
      const { embedding, start } = setup(bench);
      await start();
      const first = await bench.store.submit({ caller: 'ann', items: 4 * places });
      await untilQueued(bench, 'embedding', 3 * places);
      const sources = [{ kind: 'inline', source: 'from bob' } as const];
      const second = await bench.store.submit({ caller: 'bob', sources });
      await untilQueued(bench, 'embedding', 3 * places + 1);
      embedding.answerOne();
      embedding.answerOne();
      await bench.world.until('the next two', () => embedding.order.length > places + 1);
      // Notes arrive in any order; those that wait keep their own.
      const notes = Array.from({ length: 4 * places }, (_, index) => `note-${index + 1}`);
      const next = notes.find((note) => !embedding.order.slice(0, places).includes(note));
      assert.deepEqual(embedding.order.slice(places), [next, 'from bob']);
      embedding.comeBack();
      await bench.untilJob(first, 'succeeded');
      await bench.untilJob(second, 'succeeded');
    },
  ],
  [
    'a new item at a service goes behind those that wait for it',
    async (bench) => {
      const { embedding, start } = setup(bench);
      await start();
      const job = await bench.store.submit({ items: 2 * places });
      await untilQueued(bench, 'embedding', places);
      embedding.answerOne();
      // A slot is free, but reserved for the waiting items.
      const late = await bench.store.submit({ items: 1 });
      await bench.world.until('the next', () => embedding.order.length > places);
      assert.ok(embedding.order[places]?.startsWith('note-'));
      assert.notEqual(embedding.order[places], `note-${2 * places + 1}`);
      embedding.comeBack();
      await bench.untilJob(job, 'succeeded');
      await bench.untilJob(late, 'succeeded');
    },
  ],
  [
    'a job whose items wait in a service queue can be paused, resumed and canceled',
    async (bench) => {
      const { embedding, start } = setup(bench);
      const engine = await start();
      const job = await bench.store.submit({ items: 3 * places });
      const other = await bench.store.submit({ items: 3 * places });
      await untilQueued(bench, 'embedding', 5 * places);
      await engine.commands.pause(job.caller, job.key);
      await engine.commands.cancel(other.caller, other.key);
      await untilQueued(bench, 'embedding', 0);
      assert.equal(await bench.store.withoutCause(), 0);
      embedding.comeBack();
      await engine.commands.resume(job.caller, job.key);
      await bench.untilJob(job, 'succeeded');
      await bench.untilJob(other, 'canceled');
      assert.deepEqual(
        [await queued(bench, 'embedding'), await bench.store.withoutCause()],
        [0, 0],
      );
    },
  ],
  [
    'a service queue survives its process, and a process without services takes it over',
    async (bench) => {
      const { embedding, start } = setup(bench);
      const engine = await start();
      const job = await bench.store.submit({ items: 3 * places });
      await untilQueued(bench, 'embedding', 2 * places);
      bench.abandon(engine);
      bench.store.livingPids.delete(1);
      embedding.isAway = false;
      await start({ pid: 2, stepServices: {} });
      await bench.untilJob(job, 'succeeded');
      const { crashes } = await bench.store.item(job.ids.at(-1));
      assert.equal(crashes, 0);
      assert.equal(await queued(bench, 'embedding'), 0);
    },
  ],
];
