/**
 * What this process did in the last hour, for people without a metrics server: a ring of intervals
 * of bounded size. Nothing runs while nothing happens; an idle interval is absent.
 */
import { limits } from '../../kernel/limits/limits.ts';

const kinds = ['requests', 'searches', 'documents', 'failures'] as const;
type Kind = (typeof kinds)[number];

export interface Reading {
  readonly at: number;
  readonly counts: Readonly<Record<Kind, number>>;
  readonly requests: Spread | null;
  readonly searches: Spread | null;
}

/** Half of the values are at most p50, and 95 of 100 at most p95. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
}

interface Interval {
  readonly number: number;
  readonly counts: Record<Kind, number>;
  readonly requestMs: number[];
  readonly searchMs: number[];
}

export class Activity {
  readonly #now: () => number;
  #intervals: Interval[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  count(kind: 'documents' | 'failures'): void {
    this.#current().counts[kind] += 1;
  }

  /** Of a busy interval, every value replaces one at its turn, so that memory is bounded. */
  time(kind: 'requests' | 'searches', ms: number): void {
    const interval = this.#current();
    const values = kind === 'requests' ? interval.requestMs : interval.searchMs;
    values[interval.counts[kind] % limits.activity.timesMax] = ms;
    interval.counts[kind] += 1;
  }

  /** Oldest first. */
  read(): Reading[] {
    this.#dropOld();
    return this.#intervals.map(({ number, counts, requestMs, searchMs }) => ({
      at: number * limits.activity.intervalMs,
      counts: { ...counts },
      requests: spreadOf(requestMs),
      searches: spreadOf(searchMs),
    }));
  }

  #current(): Interval {
    const number = Math.floor(this.#now() / limits.activity.intervalMs);
    const last = this.#intervals.at(-1);
    if (last && last.number >= number) return last;
    const counts = { requests: 0, searches: 0, documents: 0, failures: 0 };
    const interval = { number, counts, requestMs: [], searchMs: [] };
    this.#intervals.push(interval);
    this.#dropOld();
    return interval;
  }

  #dropOld(): void {
    const { intervalMs, keptMs } = limits.activity;
    const from = Math.floor((this.#now() - keptMs) / intervalMs);
    this.#intervals = this.#intervals.filter(({ number }) => number > from);
  }
}

function spreadOf(values: readonly number[]): Spread | null {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number | undefined =>
    sorted[Math.min(Math.ceil(share * sorted.length), sorted.length) - 1];
  const [p50, p95] = [at(0.5), at(0.95)];
  return p50 === undefined || p95 === undefined ? null : { p50, p95 };
}
