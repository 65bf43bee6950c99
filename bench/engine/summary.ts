/** Summarizes the samples of all rounds: one row per measure, engine and store, with a verdict. */
import { median, type Reading } from '../measure/reading.ts';
import { type Measure, measures } from './measures.ts';
import type { StoreKind } from './subjects.ts';

/** One reading, with its system. */
export interface Sample extends Reading {
  readonly engine: string;
  readonly store: StoreKind;
}

export interface Row {
  readonly measure: string;
  readonly engine: string;
  readonly store: StoreKind;
  readonly values: readonly number[];
  readonly median: number;
  readonly p99?: number | undefined;
  readonly clientMicros?: number | undefined;
  readonly serverMicros?: number | undefined;
  readonly foreignCores?: number | undefined;
  readonly target?: number | undefined;
  readonly isMet?: boolean | undefined;
  /** How many times better than the best peer. */
  readonly timesBestPeer?: number | undefined;
  /** For a rate, the share of the raw limit. For a time, the multiple of the raw one. */
  readonly ofRawLimit?: number | undefined;
  readonly note?: string | undefined;
}

export function summarize(table: readonly Measure[], samples: readonly Sample[]): Row[] {
  const rows = table.flatMap(({ key }) =>
    [...groupsOf(samples.filter(({ measure }) => measure === key)).values()].map(toRow),
  );
  return rows.map((row) => {
    const measure = table.find(({ key }) => key === row.measure);
    return measure ? { ...row, ...judge(row, measure, rows) } : row;
  });
}

function groupsOf(samples: readonly Sample[]): Map<string, [Sample, ...Sample[]]> {
  const groups = new Map<string, [Sample, ...Sample[]]>();
  for (const sample of samples) {
    const key = `${sample.engine} ${sample.store}`;
    const group = groups.get(key);
    if (group) group.push(sample);
    else groups.set(key, [sample]);
  }
  return groups;
}

function toRow(samples: [Sample, ...Sample[]]): Row {
  const [{ measure, engine, store, note }] = samples;
  const values = samples.map(({ value }) => value);
  return {
    measure,
    engine,
    store,
    values,
    median: median(values) ?? Number.NaN,
    p99: median(samples.map(({ p99 }) => p99)),
    clientMicros: median(samples.map(({ cost }) => cost?.clientMicros)),
    serverMicros: median(samples.map(({ cost }) => cost?.serverMicros)),
    foreignCores: median(samples.map(({ cost }) => cost?.foreignCores)),
    note,
  };
}

function judge(row: Row, measure: Measure, rows: readonly Row[]): Partial<Row> {
  if (row.engine !== 'Pawl') return {};
  const target = measure.targets?.[row.store];
  const isMore = measure.better === 'more';
  const others = rows.filter(
    ({ measure: key, engine }) => key === row.measure && engine !== 'Pawl' && engine !== 'raw',
  );
  const peers = others.map((other) => other.median);
  const best = isMore ? Math.max(...peers) : Math.min(...peers);
  const isCompared = peers.length > 0 && measure.unit !== 'answer';
  const bound = rows.find(
    ({ measure: key, engine, store }) =>
      engine === 'raw' && key === measure.bound?.by && store === row.store,
  );
  return {
    target,
    isMet: target === undefined ? undefined : isMore ? row.median >= target : row.median <= target,
    timesBestPeer: isCompared ? (isMore ? row.median / best : best / row.median) : undefined,
    ofRawLimit:
      bound && (row.median * (isMore ? needs(measure) : 1 / needs(measure))) / bound.median,
  };
}

function needs(measure: Measure): number {
  return measure.bound?.needs ?? 1;
}

/** A sample in a few characters, for the progress line. */
export function shown({ measure: key, value }: Sample): string {
  const unit = measures.find((measure) => measure.key === key)?.unit ?? 'rate';
  return `${key} ${formatted(value, unit)}`;
}

/** From here on, decimals are not shown. */
const wholeFrom = 100;

export function formatted(value: number | undefined, unit: Measure['unit']): string {
  if (value === undefined) return '';
  if (unit === 'answer') return value === 0 ? 'no' : 'yes';
  const isWhole = unit === 'rate' || value >= wholeFrom;
  return isWhole ? Math.round(value).toLocaleString('en') : value.toFixed(2);
}
