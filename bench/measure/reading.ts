/** One figure of a measuring process, and the summary of several. */
import type { Usage } from './usage.ts';

export interface Reading {
  /** The key of a row in the suite's table of measures. */
  readonly measure: string;
  readonly value: number;
  /** The 99th percentile, if the value is the median of many. */
  readonly p99?: number;
  readonly cost?: Cost;
  /** Settings that a reader needs to judge the figure. */
  readonly note?: string;
}

/** CPU microseconds per unit of work, and how many foreign cores were busy meanwhile. */
export interface Cost {
  readonly clientMicros?: number | undefined;
  readonly serverMicros?: number | undefined;
  readonly foreignCores: number | undefined;
}

/** So many units of work in that time. */
export function rate(measure: string, count: number, usage: Usage, note?: string): Reading {
  return {
    measure,
    value: count / usage.seconds,
    cost: costOf(count, usage),
    ...(note !== undefined && { note }),
  };
}

/** The median and the 99th percentile of many times. */
export function spread(measure: string, times: readonly number[], cost?: Cost): Reading {
  return {
    measure,
    value: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    ...(cost && { cost }),
  };
}

export function costOf(count: number, usage: Usage): Cost {
  const micros = (seconds: number): number => Math.round((seconds * 1e6) / count);
  return {
    clientMicros: micros(usage.clientSeconds),
    serverMicros: usage.serverSeconds === undefined ? undefined : micros(usage.serverSeconds),
    ...noiseOf(usage),
  };
}

/** For a time that is a part of the work, or whose work is too short to measure its CPU. */
export function noiseOf({ foreignSeconds, seconds }: Usage): Cost {
  return { foreignCores: foreignSeconds === undefined ? undefined : foreignSeconds / seconds };
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export function median(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : percentile(known, 0.5);
}
