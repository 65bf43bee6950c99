/** An engine on a fresh store, with steps defined by the test, and time that it controls. */
import { Engine } from '../../src/engine/engine.ts';
import type { Ledger } from '../../src/engine/item/ledger.ts';
import type { StepName } from '../../src/kernel/lifecycle/item.ts';
import type { JobState } from '../../src/kernel/lifecycle/job.ts';
import type { Pipeline, StepFunction } from '../../src/pipeline/pipeline.ts';
import type { Database } from '../../src/store/driver/database.ts';
import type { OpenStore, StoreFixture, Submitted } from './store-fixture.ts';
import type { Cleanup } from './temporary.ts';

export type Steps = Partial<Record<StepName, StepFunction>>;
export type EngineTest = readonly [title: string, run: (bench: EngineFixture) => Promise<void>];

export interface StartOptions {
  readonly places?: number;
  readonly ledger?: (own: Ledger) => Ledger;
  readonly timeoutMs?: number;
  readonly pid?: number;
  readonly database?: Database;
  readonly pipeline?: Pipeline;
  readonly mayRunAhead?: Pipeline['mayRunAhead'];
  readonly stepServices?: Pick<Pipeline, 'serviceOf' | 'expected'>;
}

export class EngineFixture {
  readonly store: StoreFixture;
  readonly errors: string[] = [];
  /** The steps that ran, in the order in which they began. */
  readonly runs: string[] = [];
  readonly #running = new Set<Engine>();

  constructor(store: StoreFixture) {
    this.store = store;
  }

  get world() {
    return this.store.world;
  }

  async start(steps: Steps = {}, options: StartOptions = {}): Promise<Engine> {
    const { database = this.store.database, pid = 1, places, ledger, pipeline } = options;
    this.store.livingPids.add(pid);
    const engine = new Engine({
      database,
      pipeline: pipeline ?? this.pipeline(steps, options),
      world: this.world,
      liveness: { ...this.store.liveness, pid },
      workers: places,
      ledger,
      onError: (what, error) => this.errors.push(`${what}: ${String(error)}`),
    });
    this.#running.add(engine);
    this.store.onRelease(async () => {
      if (this.#running.has(engine)) await this.stop(engine);
    });
    await engine.start();
    return engine;
  }

  async stop(engine: Engine): Promise<void> {
    this.#running.delete(engine);
    await engine.stop();
  }

  /** Abandons an engine as a crash does: its timers and promises have no effect. */
  abandon(engine: Engine): void {
    this.#running.delete(engine);
  }

  /** Lets time pass until the job is in this state. */
  async untilJob({ key }: Submitted, state: JobState): Promise<void> {
    await this.world.until(
      `job ${key} to be ${state}`,
      async () => (await this.store.job(key)).state === state,
    );
  }

  async untilStory(line: string): Promise<void> {
    await this.world.until(line, async () => (await this.store.story()).includes(line));
  }

  /** How often each step was completed, according to the history. */
  async completions(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { kind, itemId, step } of await this.store.events()) {
      if (kind !== 'step_completed') continue;
      counts[`${itemId} ${step}`] = (counts[`${itemId} ${step}`] ?? 0) + 1;
    }
    return counts;
  }

  pipeline(steps: Steps, options: StartOptions = {}): Pipeline {
    const { timeoutMs = 600_000, mayRunAhead, stepServices } = options;
    const { lifecycle } = this.store;
    const wrapped = lifecycle.steps.map(({ step }): [string, StepFunction] => [
      step,
      (context) => {
        this.runs.push(step);
        return steps[step as StepName]?.(context) ?? Promise.resolve({});
      },
    ]);
    const all = Object.fromEntries(wrapped);
    return { lifecycle, steps: all, timeoutMs: () => timeoutMs, mayRunAhead, ...stepServices };
  }
}

export function openEngine(open: OpenStore): (t: Cleanup) => Promise<EngineFixture> {
  return async (t) => new EngineFixture(await open(t));
}
