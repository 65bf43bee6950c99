/**
 * One comparison of a source with its corpus. Nothing is removed before the listing is complete:
 * removals are applied in `applying` only, and `listing` has no other way there.
 */
import { defineMachine, type Edge, isFinal, openStates, statesOf } from './machine.ts';
import { type MoveRow, movesOf } from './state-move.ts';

/** The order is that of the stored `CHECK`. */
const states = [
  'listing',
  'matching',
  'applying',
  'held',
  'succeeded',
  'partial',
  'failed',
  'canceled',
] as const;
const worked = ['listing', 'matching', 'applying'] as const;

export type SyncRunState = (typeof states)[number];

// biome-ignore format: one row, one line
const table = {
  list:       ['holder', ['listing'],         'listing',   'keep'],
  complete:   ['holder', ['listing'],         'matching',  'keep'],
  match:      ['holder', ['matching'],        'matching',  'keep'],
  decide:     ['holder', ['matching'],        'applying',  'keep'],
  act:        ['holder', ['applying'],        'applying',  'keep'],
  // Everything but the removals is applied.
  hold:       ['holder', ['applying'],        'held',      'keep'],
  succeed:    ['holder', ['applying'],        'succeeded', 'keep'],
  // A part of the source could not be listed, so nothing was removed.
  end_partly: ['holder', ['applying'],        'partial',   'keep'],
  fail:       ['holder', worked,              'failed',    'keep'],
  apply:      ['person', ['held'],            'applying',  'raise'],
  ignore:     ['person', ['held'],            'applying',  'raise'],
  cancel:     ['person', [...worked, 'held'], 'canceled',  'raise'],
} as const satisfies Record<string, MoveRow<SyncRunState>>;

export type SyncRunEvent = keyof typeof table;

export const syncRunEvents = Object.keys(table) as SyncRunEvent[];

/** The movers of a run, and the states before and after. The store compiles each row. */
export const syncRunMoves = movesOf<SyncRunState, SyncRunEvent>(table);

export const syncRun = defineMachine<SyncRunState, SyncRunEvent>({
  name: 'sync-run',
  initial: 'listing',
  states,
  final: ['succeeded', 'partial', 'failed', 'canceled'],
  actions: syncRunEvents.filter((name) => syncRunMoves[name].by === 'person'),
  edges: syncRunEvents.map((name): Edge<SyncRunState, SyncRunEvent> => {
    const { from, to } = syncRunMoves[name];
    return [name, from, to];
  }),
});

/** The states by name, for comparisons and SQL. */
export const syncRunState = statesOf(syncRun);

/** Runs that have not ended. At most one of a source. */
export const openRunStates = openStates(syncRun);

/** Runs that a process works on, or should. */
export const workedRunStates: readonly SyncRunState[] = worked;

export function isFinalRun(state: SyncRunState): boolean {
  return isFinal(syncRun, state);
}
