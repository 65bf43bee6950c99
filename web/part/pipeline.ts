/** The stations that the documents of a job pass, with the steps that belong to each. */
import type { JobDetail } from '../../src/contract/schema/schema.ts';
import { stepTable } from '../../src/kernel/lifecycle/item.ts';
import { endings } from '../../src/kernel/lifecycle/item-wait.ts';

export const stations = ['fetch', 'extract', 'process', 'index', ...endings] as const;
export type Station = (typeof stations)[number];

export const stationNames: Readonly<Record<Station, string>> = {
  fetch: 'Fetch',
  extract: 'Extract',
  process: 'Chunk, embed, entities',
  index: 'Index',
  done: 'Ready',
  failed: 'Failed',
  canceled: 'Canceled',
};

/** A document stands at the step that it has reached, so the next one is what it is up to. */
const ownSteps: Readonly<Partial<Record<Station, readonly string[]>>> = {
  fetch: ['enqueued'],
  extract: ['fetched'],
  index: ['persisted', 'indexed'],
  done: ['done'],
  failed: ['failed'],
  canceled: ['canceled'],
};

/** Added steps run between extraction and indexing. */
export function stationOf(step: string): Station {
  return stations.find((station) => ownSteps[station]?.includes(step)) ?? 'process';
}

const steps: readonly string[] = ['enqueued', ...stepTable.map(({ step }) => step), ...endings];

export function stepsOf(station: Station): readonly string[] {
  return [...new Set(steps)].filter((step) => stationOf(step) === station);
}

export interface Segment {
  readonly station: Station;
  readonly count: number;
}

/** The documents at each station; failed and canceled only if there are some. */
export function segmentsOf({ counters }: Pick<JobDetail, 'counters'>): Segment[] {
  const counts = new Map<Station, number>();
  for (const [step, count] of Object.entries(counters.steps)) {
    const station = stationOf(step);
    counts.set(station, (counts.get(station) ?? 0) + count);
  }
  return stations
    .map((station) => ({ station, count: counts.get(station) ?? 0 }))
    .filter(({ station, count }) => count > 0 || !(station === 'failed' || station === 'canceled'));
}
