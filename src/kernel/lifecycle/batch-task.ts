/** Work handed to an outside provider for hours: submitted once, then moved by the reconciler. */
import { type BatchJobState, batchJob } from './batch-job.ts';
import { defineMachine, type Edge, isFinal, openStates, statesOf } from './machine.ts';

/** The order is that of the stored `CHECK`. */
const states = [
  'pending',
  'in_progress',
  'completed',
  'partial_complete',
  'failed',
  'canceled',
] as const;
const open = ['pending', 'in_progress'] as const;

export type BatchTaskState = (typeof states)[number];

export interface BatchTaskMove {
  /** Holder: the process that took the task. Its moves count only under the epoch that it took. */
  readonly by: 'holder' | 'person';
  readonly from: readonly BatchTaskState[];
  readonly to: BatchTaskState;
  /** Raise: a holder from before this move is fenced off. */
  readonly epoch: 'raise' | 'keep';
}

type Row = readonly [
  by: BatchTaskMove['by'],
  from: readonly BatchTaskState[],
  to: BatchTaskState,
  epoch: BatchTaskMove['epoch'],
];

// biome-ignore format: one row, one line
const table = {
  // From pending alone: a submission that is delivered twice must not buy the work twice.
  submit:          ['holder', ['pending'],     'in_progress',      'keep'],
  poll:            ['holder', ['in_progress'], 'in_progress',      'keep'],
  complete:        ['holder', ['in_progress'], 'completed',        'keep'],
  complete_partly: ['holder', ['in_progress'], 'partial_complete', 'keep'],
  fail:            ['holder', open,            'failed',           'keep'],
  cancel:          ['person', open,            'canceled',         'raise'],
} as const satisfies Record<string, Row>;

export type BatchTaskEvent = keyof typeof table;

export const batchTaskEvents = Object.keys(table) as BatchTaskEvent[];

/** The movers of a task, and the states before and after. The store compiles each row. */
export const batchTaskMoves = Object.fromEntries(
  batchTaskEvents.map((name) => {
    const [by, from, to, epoch]: Row = table[name];
    return [name, { by, from, to, epoch }];
  }),
) as Readonly<Record<BatchTaskEvent, BatchTaskMove>>;

export const batchTask = defineMachine<BatchTaskState, BatchTaskEvent>({
  name: 'batch-task',
  initial: 'pending',
  states,
  final: states.filter((state) => !(open as readonly string[]).includes(state)),
  actions: batchTaskEvents.filter((name) => batchTaskMoves[name].by === 'person'),
  edges: batchTaskEvents.map((name): Edge<BatchTaskState, BatchTaskEvent> => {
    const { from, to } = batchTaskMoves[name];
    return [name, from, to];
  }),
});

/** The states by name, for comparisons and SQL. */
export const batchTaskState = statesOf(batchTask);

/** The tasks that have not ended. */
export const openTaskStates = openStates(batchTask);

export interface BatchJobResult {
  readonly state: BatchJobState;
  /** The provider finished this job, but some of its rows failed. */
  readonly partial: boolean;
}

/** What the provider's jobs say should happen to a task in progress. */
export function batchTaskEventFor(jobs: readonly BatchJobResult[]): BatchTaskEvent {
  if (jobs.some(({ state }) => !isFinal(batchJob, state))) return 'poll';
  // True of no jobs as well: such a task has lost its provider's state, and nothing would end it.
  if (jobs.every(({ state }) => state === 'failed')) return 'fail';
  const whole = jobs.every(({ state, partial }) => state === 'completed' && !partial);
  return whole ? 'complete' : 'complete_partly';
}
