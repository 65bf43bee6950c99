/** A move of something whose place is one state column. The store compiles each row. */

export interface StateMove<State extends string = string> {
  /** Holder: the process that took the row. Its moves count only under the epoch that it took. */
  readonly by: 'holder' | 'person' | 'engine';
  readonly from: readonly State[];
  readonly to: State;
  /** Raise: a holder from before this move is fenced off. */
  readonly epoch: 'raise' | 'keep';
}

export type MoveRow<State extends string> = readonly [
  by: StateMove['by'],
  from: readonly State[],
  to: State,
  epoch: StateMove['epoch'],
];

/** The rows of a table as moves by name. */
export function movesOf<State extends string, Name extends string>(
  table: Readonly<Record<Name, MoveRow<State>>>,
): Readonly<Record<Name, StateMove<State>>> {
  const rows = Object.entries<MoveRow<State>>(table);
  return Object.fromEntries(
    rows.map(([name, [by, from, to, epoch]]) => [name, { by, from, to, epoch }]),
  ) as Record<Name, StateMove<State>>;
}
