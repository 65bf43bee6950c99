/** An engine whose pages are fetched by a service, with the test as its worker. */
import assert from 'node:assert/strict';
import type { Engine } from '../../src/engine/engine.ts';
import { HandoffBroker, keyOfMessage } from '../../src/handoff/orchestrator/broker.ts';
import { Callbacks, type Completion } from '../../src/handoff/orchestrator/callbacks.ts';
import { payloadsBy } from '../../src/handoff/payload.ts';
import { answered } from '../../src/handoff/request.ts';
import type { ReadResult } from '../../src/handoff/result.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import type { StepContext, StepResult } from '../../src/pipeline/pipeline.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { removeHandoffsOfStep } from '../../src/store/handoff/handoffs.ts';
import { getJobById } from '../../src/store/job/jobs.ts';
import type { EngineFixture } from './engine-fixture.ts';
import { HandQueue } from './hand-queue.ts';
import type { Latch } from './test-world.ts';

export const workerPid = 500;
const stage = 'scraping';

/** The pages of these scenes are only words. */
export const asSent: ReadResult = (_, payload) => payload;

export class Scene {
  readonly bench: EngineFixture;
  readonly queue = new HandQueue('scrape_jobs');
  readonly broker: HandoffBroker;
  readonly callbacks: Callbacks;
  readonly used: unknown[] = [];

  constructor(bench: EngineFixture) {
    this.bench = bench;
    const { store, world } = bench;
    this.broker = this.#broker();
    this.callbacks = new Callbacks({
      ...{ database: store.database, world, broker: this.broker },
      read: asSent,
    });
    store.livingPids.add(workerPid);
  }

  /** The next writes of the broker are refused, as by a store that is away. */
  failWrites(times: number): void {
    this.#refusals = times;
  }

  #refusals = 0;

  /** Whether the broker cannot reach its store. */
  isAway = false;

  /** Writes of the broker wait until the latch is opened. */
  holdWrites(latch: Latch): void {
    this.#held = latch;
  }

  #held: Latch | undefined;
  /** Writes so far, held or not. */
  writes = 0;

  #database(): Database {
    const { database } = this.bench.store;
    return {
      ...database,
      run: async (statement, parameters) => {
        if (this.isAway) throw new Failure('store_busy', 'the store is away');
        return database.run(statement, parameters);
      },
      write: async (work) => {
        this.writes += 1;
        await this.#held?.opened;
        if (!this.isAway && this.#refusals === 0) return database.write(work);
        this.#refusals = Math.max(this.#refusals - 1, 0);
        throw new Failure('store_busy', 'the store is away');
      },
    };
  }

  #broker(): HandoffBroker {
    const { store, world } = this.bench;
    const broker = new HandoffBroker({
      ...{ database: this.#database(), world, liveness: store.liveness, payloads: payloadsBy() },
      queues: { scrape_jobs: this.queue, embed_jobs: this.queue },
      onError: (what, error) => this.bench.errors.push(`${what}: ${String(error)}`),
    });
    broker.start();
    store.onRelease(() => broker.stop());
    return broker;
  }

  /** An engine whose pages are fetched by a service. */
  start(pid = 1): Promise<Engine> {
    const broker = pid === 1 ? this.broker : this.#broker();
    const fetched = (context: StepContext) => this.#ask(context, broker);
    return this.bench.start({ fetched }, { pid, timeoutMs: limits.handoff.softMs });
  }

  async #ask(context: StepContext, broker: HandoffBroker): Promise<StepResult> {
    const { item, reader, signal, progress } = context;
    const jobKey = (await getJobById(reader, item.jobId))?.key ?? '';
    const reply = await broker.ask(
      { kind: 'visit', request: { source: item.source } },
      { item, jobKey, step: 'fetched', signal, progress },
    );
    const { value } = answered(reply);
    return {
      effect: async (transaction) => {
        this.used.push(value.page);
        await removeHandoffsOfStep(transaction, { itemId: item.id, step: 'fetched' });
        return undefined;
      },
    };
  }

  /** Takes a message, and begins its request. */
  async begin(id = 'w1', pid = workerPid, isAlone = false) {
    await this.bench.world.until('a message', () => this.queue.waiting.size > 0);
    const { id: message, jobId = '' } = this.queue.take();
    const handoff = keyOfMessage(message);
    const worker = { id, host: 'machine', pid, process_started: '7' };
    const begun = await this.callbacks.begin(jobId, handoff, worker, isAlone);
    return { jobId, handoff, begun };
  }

  /** Begins, and returns the function that completes it. */
  async beginOne(id?: string, pid?: number, isAlone?: boolean) {
    const { jobId, handoff, begun } = await this.begin(id, pid, isAlone);
    if (begun.status !== 'begun') assert.fail('the request was gone');
    const complete = (more: Partial<Completion> = { value: { page: 'a page' } }) =>
      this.callbacks.complete(jobId, { stage, handoff, epoch: begun.epoch, ...more });
    return { jobId, handoff, begun, complete };
  }

  async rows(): Promise<number> {
    const count = sql<{ count: number }>`SELECT COUNT(*) AS count FROM handoffs`;
    return (await this.bench.store.database.run(count))[0]?.count ?? -1;
  }
}

/** The stored row of the only request. */
export async function requestOf(scene: Scene) {
  const { database } = scene.bench.store;
  const read = sql<{ handoff: string; begun: number; jobId: string }>`
    SELECT handoffs.key AS handoff, handoffs.epoch AS begun, jobs.key AS "jobId"
    FROM handoffs JOIN jobs ON jobs.id = handoffs.job_id`;
  const [row] = await database.run(read);
  assert.ok(row);
  return row;
}
