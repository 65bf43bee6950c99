/**
 * How an item is scheduled, as one table of moves.
 *
 * An open item waits on exactly one thing, which will move it (`waits_on`). An ended item waits on
 * nothing, and its step says how it ended. So the place of an item is what it waits on, or its last
 * step. `itemMoves` says who may move an item, from which places, to which. The store compiles each
 * row to a compare-and-set (`store/item/compile-move.ts`); the machine below, the edges of the
 * item's own machine and the actions that people are offered are derived from the same rows.
 *
 * An open item that nothing will move is a broken promise: `pawl_items_without_forward_cause`
 * counts them, and is 0.
 */
import { allowedActions, defineMachine, type Edge, statesOf } from './machine.ts';

/** The order is that of the stored `CHECK`. */
export const waits = ['turn', 'worker', 'time', 'gate', 'task', 'person'] as const;
export const endings = ['done', 'failed', 'canceled'] as const;

export type WaitsOn = (typeof waits)[number];
export type Ending = (typeof endings)[number];
export type ItemPlace = WaitsOn | Ending;

export type Mover =
  | 'submitter'
  | 'dispatcher'
  /** The worker that has the lease: its moves count only under the epoch that it claimed. */
  | 'holder'
  | 'gate'
  | 'clock'
  | 'batch task'
  | 'rescuer'
  /** A command on the item's job, or on its document. */
  | 'command'
  /** A person who acts on this one item. */
  | 'person';

export interface ItemMove {
  readonly by: Mover;
  readonly from: readonly ItemPlace[];
  /** More than one where the data of the item, or the state of its job, decides. */
  readonly to: readonly ItemPlace[];
  /** Raise: a holder from before this move is fenced off. */
  readonly epoch: 'raise' | 'keep';
  /** Works: the move is refused once a command has stopped the job. */
  readonly job: 'works' | 'any';
}

type Row = readonly [
  by: Mover,
  from: readonly ItemPlace[],
  to: readonly ItemPlace[],
  epoch: ItemMove['epoch'],
  job: ItemMove['job'],
];

/** Tasks are not paused: their answers are paid for. What they wake then waits for the person. */
const pausable = ['turn', 'worker', 'time', 'gate'] as const;

// biome-ignore format: one row, one line
const table = {
  submit:    ['submitter',  [],                     ['turn', 'gate'],           'keep',  'any'],
  claim:     ['dispatcher', ['turn'],               ['worker'],                 'raise', 'works'],
  advance:   ['holder',     ['worker'],             ['worker'],                 'keep',  'works'],
  finish:    ['holder',     ['worker'],             ['done'],                   'raise', 'works'],
  delay:     ['holder',     ['worker'],             ['time'],                   'raise', 'works'],
  give_back: ['holder',     ['worker'],             ['turn'],                   'raise', 'works'],
  defer:     ['holder',     ['worker'],             ['task'],                   'raise', 'works'],
  fail:      ['holder',     ['worker'],             ['failed'],                 'raise', 'works'],
  // The holder does not know whether its last report was committed.
  hand_back: ['holder',     ['worker'],             ['turn'],                   'raise', 'any'],
  admit:     ['gate',       ['gate'],               ['turn', 'time'],           'keep',  'any'],
  wake:      ['clock',      ['time'],               ['turn', 'gate'],           'keep',  'works'],
  expire:    ['clock',      waits,                  ['failed'],                 'raise', 'any'],
  answer:    ['batch task', ['task'],               ['turn', 'person'],         'keep',  'any'],
  rescue:    ['rescuer',    ['worker'],             ['turn'],                   'raise', 'works'],
  // It was taken from too many workers.
  condemn:   ['rescuer',    ['turn'],               ['failed'],                 'raise', 'any'],
  cancel:    ['command',    waits,                  ['canceled'],               'raise', 'any'],
  pause:     ['command',    pausable,               ['person'],                 'raise', 'any'],
  resume:    ['command',    ['person'],             ['turn', 'gate'],           'raise', 'any'],
  // With its job, which also takes items that were canceled.
  restart:   ['command',    ['failed', 'canceled'], ['turn', 'gate', 'person'], 'raise', 'any'],
  retry:     ['person',     ['failed'],             ['turn', 'gate', 'person'], 'raise', 'any'],
  discard:   ['person',     ['failed'],             ['canceled'],               'keep',  'any'],
} as const satisfies Record<string, Row>;

type Table = typeof table;
export type ItemMoveName = keyof Table;

/** The places to which a move may lead. */
export type MoveTarget<Name extends ItemMoveName> = Table[Name][2][number];

export const itemMoveNames = Object.keys(table) as ItemMoveName[];

export const itemMoves = Object.fromEntries(
  itemMoveNames.map((name) => {
    const [by, from, to, epoch, job]: Row = table[name];
    return [name, { by, from, to, epoch, job }];
  }),
) as Readonly<Record<ItemMoveName, ItemMove>>;

/** A holder reports on a job that works: its move commits the steps that were reached. */
export function isReport({ by, job }: ItemMove): boolean {
  return by === 'holder' && job === 'works';
}

/** The moves of an item as a machine whose states are its places. */
export const itemWait = defineMachine<ItemPlace, ItemMoveName>({
  name: 'item-wait',
  initial: 'turn',
  states: [...waits, ...endings],
  final: endings,
  actions: itemMoveNames.filter((name) => itemMoves[name].by === 'person'),
  edges: itemMoveNames.flatMap((name) =>
    itemMoves[name].to.flatMap((to): Edge<ItemPlace, ItemMoveName>[] =>
      itemMoves[name].from.length === 0 ? [] : [[name, itemMoves[name].from, to]],
    ),
  ),
});

/** The places by name, for comparisons and SQL. */
export const place = statesOf(itemWait);

interface PlacedRow {
  readonly waits_on: WaitsOn | null;
  readonly step: string;
}

/** Where an item is: what it waits on, or how it ended. Undefined: nothing will move it. */
export function placeOfItem({ waits_on, step }: PlacedRow): ItemPlace | undefined {
  return waits_on ?? endings.find((ending) => ending === step);
}

/** The actions that a person may take on an item. */
export function itemActions(row: PlacedRow): ItemMoveName[] {
  const found = placeOfItem(row);
  return found === undefined ? [] : allowedActions(itemWait, found);
}

export function isOpenPlace(found: ItemPlace): found is WaitsOn {
  return (waits as readonly ItemPlace[]).includes(found);
}

/** What `waits_on` holds at a place. */
export function waitAt(found: ItemPlace): WaitsOn | null {
  return isOpenPlace(found) ? found : null;
}

/**
 * Whether the job counts the item as waiting. An item with a place at its gate waits for the pace
 * of the gate, and is not counted.
 */
export function isCountedWaiting(row: {
  readonly waits_on: WaitsOn | null;
  readonly gate_held: number;
}): boolean {
  return row.waits_on === place.time && row.gate_held === 0;
}

/** The moves that end an item, or begin an ended one again: those that change its step. */
export function stepEdges(open: readonly string[]): Edge<string, string>[] {
  const changing = itemMoveNames.filter((name) => {
    const { from, to } = itemMoves[name];
    return name !== 'finish' && [...from, ...to].some((found) => !isOpenPlace(found));
  });
  return changing.flatMap((name) => {
    const { from, to } = itemMoves[name];
    const steps = (found: ItemPlace): readonly string[] => (isOpenPlace(found) ? open : [found]);
    const before = [...new Set(from.flatMap(steps))];
    // A retry returns to the step that the progress gives: one row for each.
    const after = [...new Set(to.flatMap(steps))];
    return after.map((step): Edge<string, string> => [name, before, step]);
  });
}
