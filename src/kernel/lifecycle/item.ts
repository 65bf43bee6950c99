/**
 * The life of one document inside one job, as one table of steps.
 *
 * An item's progress is the set of steps it has reached. The set only grows, and it is closed under
 * `after`: a step is reached only when everything before it was. The three branches between
 * `content_extracted` and `persisted` may be reached in any order; `step`, the state people see, is
 * the last step of the unbroken run from the start. `failed` and `canceled` end the item and keep
 * its progress, so a retry continues where it stopped. The moves of an item between the things it
 * waits on are the table in `item-wait.ts`.
 */
import { endings, itemWait, stepEdges } from './item-wait.ts';
import { defineMachine, type Edge, type Machine } from './machine.ts';
import type { Stage } from './stage.ts';

export interface StepRow {
  readonly step: string;
  /** The step's place in the stored set. Never reused, never changed: rows outlive this table. */
  readonly bit: number;
  readonly after: readonly string[];
  /** The stage that people see while the item works towards this step. */
  readonly stage: Stage;
}

export const stepTable = [
  { step: 'fetched', bit: 0, after: [], stage: 'scraping' },
  { step: 'content_extracted', bit: 1, after: ['fetched'], stage: 'scraping' },
  { step: 'chunked', bit: 2, after: ['content_extracted'], stage: 'chunking' },
  { step: 'embedded', bit: 3, after: ['content_extracted'], stage: 'embedding' },
  { step: 'entity_extracted', bit: 4, after: ['content_extracted'], stage: 'embedding' },
  {
    step: 'persisted',
    bit: 5,
    after: ['chunked', 'embedded', 'entity_extracted'],
    stage: 'embedding',
  },
  { step: 'indexed', bit: 6, after: ['persisted'], stage: 'embedding' },
  { step: 'done', bit: 7, after: ['indexed'], stage: 'embedding' },
] as const satisfies readonly StepRow[];

/** A set of reached steps, one bit each. */
export type Progress = number;

export const noProgress: Progress = 0;

/** The state of an item that has reached no step. */
export const firstState = 'enqueued';

/** What the engine needs of the steps: derived once from the table, then only read. */
export interface Lifecycle {
  readonly steps: readonly StepRow[];
  readonly machine: Machine;
  readonly complete: Progress;
  bit(step: string): Progress;
  row(step: string): StepRow;
  isReached(progress: Progress, step: string): boolean;
  reach(progress: Progress, step: string): Progress;
  /** The steps that can run now: not reached, everything before them reached. */
  ready(progress: Progress): readonly string[];
  /** The state people see. */
  stepOf(progress: Progress): string;
}

/** The last step of every lifecycle is called `done`. */
export function defineLifecycle(steps: readonly StepRow[]): Lifecycle {
  if (steps.at(-1)?.step !== 'done') throw new Error('the last step is called done');
  const bits = new Map(steps.map((row) => [row.step, 1 << row.bit]));
  const needs = new Map(
    steps.map((row) => [row.step, row.after.reduce((set, step) => set | (bits.get(step) ?? 0), 0)]),
  );
  const rows = new Map(steps.map((row) => [row.step, row]));
  const complete = steps.reduce((set, row) => set | (1 << row.bit), 0);
  const bit = (step: string): Progress => {
    const value = bits.get(step);
    if (value === undefined) throw new Error(`no step is called ${step}`);
    return value;
  };
  const stepOf = (progress: Progress): string => {
    let last: string = firstState;
    for (const { step } of steps) {
      if ((progress & bit(step)) === 0) break;
      last = step;
    }
    return last;
  };
  const ready = (progress: Progress): string[] =>
    steps
      .filter(({ step }) => {
        const before = needs.get(step) ?? 0;
        return (progress & bit(step)) === 0 && (progress & before) === before;
      })
      .map(({ step }) => step);
  return {
    steps,
    machine: machineOf(steps, stepOf, ready, (step) => bit(step)),
    complete,
    bit,
    row: (step) => rows.get(step) ?? raiseUnknown(step),
    isReached: (progress, step) => (progress & bit(step)) !== 0,
    reach: (progress, step) => progress | bit(step),
    ready: memoize(ready),
    stepOf: memoize(stepOf),
  };
}

/**
 * Walks every set of steps that can be reached, and records each committed step as an edge.
 */
function machineOf(
  steps: readonly StepRow[],
  stepOf: (progress: Progress) => string,
  ready: (progress: Progress) => readonly string[],
  bit: (step: string) => Progress,
): Machine {
  const commits = new Map<string, { event: string; to: string; from: Set<string> }>();
  const seen = new Set<Progress>();
  const walk = (progress: Progress): void => {
    if (seen.has(progress)) return;
    seen.add(progress);
    for (const event of ready(progress)) {
      const next = progress | bit(event);
      const to = stepOf(next);
      const commit = commits.get(`${event} ${to}`) ?? { event, to, from: new Set() };
      commits.set(`${event} ${to}`, commit);
      commit.from.add(stepOf(progress));
      walk(next);
    }
  };
  walk(noProgress);
  const open = [firstState, ...steps.slice(0, -1).map(({ step }) => step)];
  const edges: Edge<string, string>[] = [...commits.values()].map(({ event, from, to }) => [
    event,
    [...from],
    to,
  ]);
  return defineMachine<string, string>({
    name: 'item',
    initial: firstState,
    states: [...open, ...endings],
    final: endings,
    actions: itemWait.actions,
    edges: [...edges, ...stepEdges(open)],
  });
}

function memoize<T>(derive: (progress: Progress) => T): (progress: Progress) => T {
  const known = new Map<Progress, T>();
  return (progress) => {
    let value = known.get(progress);
    if (value === undefined) {
      value = derive(progress);
      known.set(progress, value);
    }
    return value;
  };
}

function raiseUnknown(step: string): never {
  throw new Error(`no step is called ${step}`);
}

/** The lifecycle of a document in Pawl. */
export const item = defineLifecycle(stepTable);

export type StepName = (typeof stepTable)[number]['step'];
