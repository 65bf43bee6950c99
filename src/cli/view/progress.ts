/** Progress of a job, folded from its events and counts. */
import type { Event } from '../../contract/schema/schema.ts';
import { item as lifecycle } from '../../kernel/lifecycle/item.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import type { JobCounts } from '../pawl-client.ts';
import { duration, number } from './wording.ts';

const stages: readonly Stage[] = ['scraping', 'chunking', 'embedding'];
const rateWindowMs = 10_000;

/** Running steps by item. */
export class Progress {
  readonly #running = new Map<number, Set<string>>();
  readonly #samples: { readonly at: number; readonly ended: number }[] = [];
  #counts: JobCounts;

  constructor(counts: JobCounts) {
    this.#counts = counts;
  }

  get counts(): JobCounts {
    return this.#counts;
  }

  see({ kind, item_id: itemId, step }: Event): void {
    if (itemId === null) return;
    if (kind === 'step_started' && step) {
      const steps = this.#running.get(itemId) ?? new Set();
      this.#running.set(itemId, steps.add(step));
    } else if (kind === 'step_completed' && step) {
      const steps = this.#running.get(itemId);
      steps?.delete(step);
      if (steps?.size === 0) this.#running.delete(itemId);
    } else if (endings.has(kind)) {
      this.#running.delete(itemId);
    }
  }

  recount(counts: JobCounts, now: number): void {
    this.#counts = counts;
    this.#samples.push({ at: now, ended: this.ended });
    while ((this.#samples[1]?.at ?? now) < now - rateWindowMs) this.#samples.shift();
  }

  get ended(): number {
    const { items_done, items_failed, items_canceled } = this.#counts;
    return items_done + items_failed + items_canceled;
  }

  /** Documents per second over the sampling window. */
  get rate(): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last || last.at - first.at < 200) return 0;
    return ((last.ended - first.ended) * 1000) / (last.at - first.at);
  }

  /** `137/s, 4 s left`, as far as known. */
  get pace(): string {
    const { rate } = this;
    const { items_total: total, items_waiting: waiting } = this.#counts;
    // The rate says nothing about items that wait for a retry time.
    if (rate <= 0 || waiting >= total - this.ended) return '';
    const left = duration(((total - this.ended) / rate) * 1000);
    const speed = rate >= 10 ? number(Math.round(rate)) : rate.toFixed(1);
    return `${speed}/s, ${left} left`;
  }

  /** Items per stage. An item counts for the earliest of its running steps. */
  get stageCounts(): readonly (readonly [Stage, number])[] {
    const inStage = new Map<Stage, number>(stages.map((stage) => [stage, 0]));
    for (const steps of this.#running.values()) {
      const row = lifecycle.steps.find(({ step }) => steps.has(step));
      if (row) inStage.set(row.stage, (inStage.get(row.stage) ?? 0) + 1);
    }
    return [...inStage];
  }
}

const endings: ReadonlySet<Event['kind']> = new Set([
  'item_failed',
  'item_canceled',
  'item_unchanged',
  'retry_scheduled',
  'lease_lost',
  'report_refused',
]);
