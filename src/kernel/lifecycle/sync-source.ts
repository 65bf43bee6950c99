/** A place that a corpus follows, such as a folder. It is `failing` while it cannot be read. */
import { defineMachine, type Edge, openStates, statesOf } from './machine.ts';
import { type MoveRow, movesOf } from './state-move.ts';

/** The order is that of the stored `CHECK`. */
const states = ['active', 'failing', 'paused', 'removed'] as const;
const followed = ['active', 'failing'] as const;

export type SyncSourceState = (typeof states)[number];

// biome-ignore format: one row, one line
const table = {
  recover: ['engine', followed,              'active',  'keep'],
  fail:    ['engine', followed,              'failing', 'keep'],
  pause:   ['person', followed,              'paused',  'keep'],
  resume:  ['person', ['paused'],            'active',  'keep'],
  remove:  ['person', [...followed, 'paused'], 'removed', 'keep'],
} as const satisfies Record<string, MoveRow<SyncSourceState>>;

export type SyncSourceEvent = keyof typeof table;

export const syncSourceEvents = Object.keys(table) as SyncSourceEvent[];

/** The moves of a source. The run that an `engine` move belongs to is fenced by its own epoch. */
export const syncSourceMoves = movesOf<SyncSourceState, SyncSourceEvent>(table);

export const syncSource = defineMachine<SyncSourceState, SyncSourceEvent>({
  name: 'sync-source',
  initial: 'active',
  states,
  final: ['removed'],
  actions: syncSourceEvents.filter((name) => syncSourceMoves[name].by === 'person'),
  edges: syncSourceEvents.map((name): Edge<SyncSourceState, SyncSourceEvent> => {
    const { from, to } = syncSourceMoves[name];
    return [name, from, to];
  }),
});

/** The states by name, for comparisons and SQL. */
export const syncSourceState = statesOf(syncSource);

/** Sources that have a name and entries: all but removed ones. */
export const keptSourceStates = openStates(syncSource);

/** Sources whose schedule counts. */
export const followedStates: readonly SyncSourceState[] = followed;
