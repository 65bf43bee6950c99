/**
 * Jobs as `GET /jobs/{id}` shows them. Whoever polls is answered from what the orchestrators show
 * each other, where that is good enough, and from the store everywhere else. A view is written when
 * somebody has asked for the job, and again after each commit for as long as somebody might ask.
 */

import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { HotStore, HotView } from '../../redis/hot-store.ts';
import type { Told } from '../stream/news.ts';
import type { JobView, JobViews, ShownJobs } from './job-views.ts';

export interface HotJobsOptions {
  readonly store: HotStore;
  readonly pictures: JobViews;
  readonly world: World;
  /** The clock that all orchestrators share. */
  readonly now: () => number;
  /** Everything in the log after this is told to `see`. */
  readonly position: () => number;
  readonly onRead: (result: HotResult) => void;
  readonly onError: (what: string, error: unknown) => void;
}

/** What came of looking: `stale` is a view that was not good enough. */
export type HotResult = 'hit' | 'miss' | 'stale' | 'away';

/** What this process knows of a job from the log. */
export interface Known {
  /** Its last event, and the last one that changed its state. */
  readonly last: number;
  readonly lastState: number;
}

export class HotJobs implements ShownJobs {
  readonly #options: HotJobsOptions;
  readonly #known = new Map<string, Known>();
  readonly #touched = new Set<string>();
  /** Of what lies before, this process has not seen everything. */
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
    const picture = view === undefined || view === 'away' ? undefined : pictureOf(view);
    if (picture && isGoodEnough(picture, this.#knownOf(key), now())) {
      onRead('hit');
      return picture;
    }
    onRead(view === 'away' ? 'away' : view === undefined ? 'miss' : 'stale');
    const loaded = await this.#options.pictures.of(key);
    // Whoever asked is not kept waiting for it; a store that is away says so itself.
    if (loaded?.isWhole) void store.write(key, viewOf(loaded));
    return loaded;
  }

  /** After a command: whoever asks next, wherever, is shown what came of it. */
  async refresh(key: string): Promise<void> {
    const { pictures, store } = this.#options;
    const picture = await pictures.of(key);
    if (!picture) return;
    this.#learn(key, picture.version, true);
    await store.write(key, viewOf(picture));
    if (!picture.isWhole) this.#touch(key, limits.hotView.writeMs);
  }

  see(told: readonly Told[]): void {
    this.#floor ??= this.#options.position();
    for (const { jobKey, event, isEnd } of told) {
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

  /** Only of jobs that somebody has asked for, and that no other process was quicker with. */
  async #flush(): Promise<void> {
    const keys = [...this.#touched].slice(0, limits.hotView.flushMax);
    for (const key of keys) this.#touched.delete(key);
    const { store, pictures } = this.#options;
    const versions = await store.versions(keys);
    for (const [key, version] of versions) {
      if (version >= this.#knownOf(key).last || this.#isStopped) continue;
      const picture = await pictures.of(key);
      if (picture?.isWhole) await store.write(key, viewOf(picture));
      // Its items were counted a moment ago: they are counted again when it is their time.
      else if (picture) this.#touched.add(key);
    }
  }
}

/**
 * States are never late; counts are for a moment, as they always may be. A view that lies still for
 * long is looked after: not everything that is shown comes with an event.
 */
export function isGoodEnough(picture: JobView, known: Known, now: number): boolean {
  const { version, at, row, isWhole } = picture;
  const ageMs = Math.abs(now - at);
  if (version < known.lastState) return false;
  const isLate = version < known.last || !isWhole;
  if (isLate && ageMs > limits.request.standingsAgeMsMax) return false;
  return isFinal(jobMachine, row.state) || ageMs <= limits.hotView.ageMsMax;
}

function viewOf(picture: JobView): HotView {
  return { version: picture.version, body: JSON.stringify(picture) };
}

/** Undefined for what another release has written in another form. */
function pictureOf({ body }: HotView): JobView | undefined {
  const picture = JSON.parse(body) as JobView;
  return picture.form === limits.hotView.form ? picture : undefined;
}
