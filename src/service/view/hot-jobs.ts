/**
 * Job views for `GET /jobs/{id}`. Polling clients are answered from views that orchestrators share
 * in Redis, if fresh enough, and otherwise from the store. A view is written when a client has
 * asked for the job, and after each commit while clients may still ask.
 */

import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { HotStore, HotView } from '../../redis/hot-store.ts';
import type { PublishedEvent } from '../stream/news.ts';
import type { JobView, JobViews, ShownJobs } from './job-views.ts';

export interface HotJobsOptions {
  readonly store: HotStore;
  readonly jobViews: JobViews;
  readonly world: World;
  /** The clock that all orchestrators share. */
  readonly now: () => number;
  /** Every event after this sequence number is passed to `see`. */
  readonly position: () => number;
  readonly onRead: (result: HotResult) => void;
  readonly onError: (what: string, error: unknown) => void;
}

/** The result of a lookup; `stale` means that the view was not fresh enough. */
export type HotResult = 'hit' | 'miss' | 'stale' | 'away';

/** What this process knows about a job from the log. */
export interface Known {
  /** Its last event, and the last one that changed its state. */
  readonly last: number;
  readonly lastState: number;
}

export class HotJobs implements ShownJobs {
  readonly #options: HotJobsOptions;
  readonly #known = new Map<string, Known>();
  readonly #touched = new Set<string>();
  /** Of earlier events, this process has not seen all. */
  #floor: number | undefined;
  #cancelFlush: (() => void) | undefined;
  #flushing: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: HotJobsOptions) {
    this.#options = options;
  }

  async read(key: string): Promise<JobView | undefined> {
    const { store, onRead, now } = this.#options;
    this.#floor ??= this.#options.position();
    const view = await store.read(key);
    const jobView = view === undefined || view === 'away' ? undefined : parseView(view);
    if (jobView && isGoodEnough(jobView, this.#knownOf(key), now())) {
      onRead('hit');
      return jobView;
    }
    onRead(view === 'away' ? 'away' : view === undefined ? 'miss' : 'stale');
    const loaded = await this.#options.jobViews.of(key);
    // The client does not wait for the write. A store outage is reported elsewhere.
    if (loaded?.isWhole) void store.write(key, viewOf(loaded));
    return loaded;
  }

  /** After a command, the next request to any process shows its effect. */
  async refresh(key: string): Promise<void> {
    const { jobViews, store } = this.#options;
    const jobView = await jobViews.of(key);
    if (!jobView) return;
    this.#learn(key, jobView.version, true);
    await store.write(key, viewOf(jobView));
    if (!jobView.isWhole) this.#touch(key, limits.hotView.writeMs);
  }

  see(published: readonly PublishedEvent[]): void {
    this.#floor ??= this.#options.position();
    for (const { jobKey, event, isEnd } of published) {
      if (jobKey === null) continue;
      const isState = event.kind.startsWith('job_');
      this.#learn(jobKey, event.seq, isState);
      this.#touch(jobKey, isState || isEnd ? 0 : limits.hotView.writeMs);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelFlush?.();
    await this.#flushing;
  }

  #touch(key: string, delayMs: number): void {
    this.#touched.add(key);
    this.#schedule(delayMs);
  }

  #knownOf(key: string): Known {
    const floor = this.#floor ?? 0;
    return this.#known.get(key) ?? { last: floor, lastState: floor };
  }

  #learn(key: string, seq: number, isState: boolean): void {
    const { last, lastState } = this.#knownOf(key);
    const known = { last: Math.max(last, seq), lastState: isState ? seq : lastState };
    this.#known.delete(key);
    this.#known.set(key, { ...known, lastState: Math.max(known.lastState, lastState) });
    if (this.#known.size <= limits.event.jobsRememberedMax) return;
    const [oldest] = this.#known;
    if (oldest === undefined) return;
    this.#known.delete(oldest[0]);
    this.#floor = Math.max(this.#floor ?? 0, oldest[1].last);
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped || this.#flushing) return;
    if (this.#cancelFlush && delayMs > 0) return;
    this.#cancelFlush?.();
    this.#cancelFlush = this.#options.world.setTimer(() => {
      this.#cancelFlush = undefined;
      this.#flushing = this.#flush()
        .catch((error) => this.#options.onError('hot view', error))
        .finally(() => {
          this.#flushing = undefined;
          if (this.#touched.size > 0) this.#schedule(limits.hotView.writeMs);
        });
    }, delayMs);
  }

  /** Only jobs that a client has asked for, and that no other process has just written. */
  async #flush(): Promise<void> {
    const keys = [...this.#touched].slice(0, limits.hotView.flushMax);
    for (const key of keys) this.#touched.delete(key);
    const { store, jobViews } = this.#options;
    const versions = await store.versions(keys);
    for (const [key, version] of versions) {
      if (version >= this.#knownOf(key).last || this.#isStopped) continue;
      const jobView = await jobViews.of(key);
      if (jobView?.isWhole) await store.write(key, viewOf(jobView));
      // Its items were counted a moment ago; the next count is scheduled.
      else if (jobView) this.#touched.add(key);
    }
  }
}

/**
 * States are never stale; counts may be for a moment. A view that has not changed for long is
 * refreshed, because not everything in it comes with an event.
 */
export function isGoodEnough(jobView: JobView, known: Known, now: number): boolean {
  const { version, at, row, isWhole } = jobView;
  const ageMs = Math.abs(now - at);
  if (version < known.lastState) return false;
  const isLate = version < known.last || !isWhole;
  if (isLate && ageMs > limits.request.standingsAgeMsMax) return false;
  return isFinal(jobMachine, row.state) || ageMs <= limits.hotView.ageMsMax;
}

function viewOf(jobView: JobView): HotView {
  return { version: jobView.version, body: JSON.stringify(jobView) };
}

/** Undefined for a view that another release wrote in another form. */
function parseView({ body }: HotView): JobView | undefined {
  const jobView = JSON.parse(body) as JobView;
  return jobView.form === limits.hotView.form ? jobView : undefined;
}
