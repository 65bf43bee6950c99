/**
 * Compiles rows of `itemMoves` to SQL. A statement that moves items takes its `SET` of state
 * columns and its `WHERE` from here, so it is a compare-and-set on what the table allows: it sets
 * no other place, and changes no item that is at another.
 */
import {
  type ItemMove,
  type ItemMoveName,
  type ItemPlace,
  isOpenPlace,
  isReport,
  itemMoves,
  type MoveTarget,
} from '../../kernel/lifecycle/item-wait.ts';
import { sqlList } from '../../kernel/lifecycle/machine.ts';
import { atPlaces } from './at-places.ts';
import { isWorkedOn } from './fence.ts';

export interface CompiledMove {
  /** Assigns `waits_on`, `step` and `epoch`, as far as the move changes them. */
  readonly set: string;
  /** Where the item is, whose epoch it has, and whether its job works. */
  readonly where: string;
}

/**
 * How one of several targets is chosen: by conditions, of which the first that holds decides and
 * the target that has none is the rest; or by the parameter `:waits_on`, which the caller fills.
 */
export type Choice<Name extends ItemMoveName> =
  | { readonly [Place in MoveTarget<Name>]?: string }
  | ':waits_on';

/** Several moves are one statement if they differ in nothing but where they lead. */
export function compileMove<Name extends ItemMoveName>(
  names: Name | readonly Name[],
  choice?: Choice<Name>,
): CompiledMove {
  const moves = [names].flat().map((name) => itemMoves[name as ItemMoveName]);
  const [move] = moves;
  if (!move || moves.some((other) => !isSameBut(move, other))) {
    throw new Error(`these moves are no one statement: ${String(names)}`);
  }
  const to = [...new Set(moves.flatMap((each) => each.to))];
  const assignments = [stepAfter(move, to), waitAfter(move, to, choice), epochAfter(move)];
  return {
    set: assignments.filter((text) => text !== undefined).join(', '),
    where: conditionsOf(move).join(' AND '),
  };
}

function isSameBut(one: ItemMove, other: ItemMove): boolean {
  return (
    one.by === other.by &&
    one.epoch === other.epoch &&
    one.job === other.job &&
    String(one.from) === String(other.from)
  );
}

/** Where the step follows from the progress, the caller gives it as `:step`. */
function stepAfter(move: ItemMove, to: readonly ItemPlace[]): string | undefined {
  const [first] = to;
  if (to.length === 1 && first !== undefined && !isOpenPlace(first) && !isReport(move)) {
    return `step = ${sqlList([first])}`;
  }
  const isChanged = isReport(move) || to.some((place) => !isOpenPlace(place));
  const isReopened = move.from.some((place) => !isOpenPlace(place));
  return isChanged || isReopened ? 'step = :step' : undefined;
}

function waitAfter(
  { from }: ItemMove,
  to: readonly ItemPlace[],
  choice: Choice<ItemMoveName> | undefined,
): string | undefined {
  const before = new Set(from.map(waitText));
  const after = [...new Set(to.map(waitText))];
  const [only] = after;
  if (after.length === 1)
    return before.size === 1 && before.has(only ?? '') ? undefined : set(only);
  if (choice === ':waits_on') return set(':waits_on');
  const cases = Object.entries(choice ?? {}).map(
    ([place, condition]) => [waitText(place as ItemPlace), condition] as const,
  );
  const rest = after.filter((text) => cases.every(([place]) => place !== text));
  if (cases.some(([place]) => !after.includes(place)) || rest.length !== 1) {
    throw new Error(`one of ${after.join(', ')} must be left for the rest`);
  }
  const when = cases.map(([place, condition]) => `WHEN ${condition} THEN ${place}`);
  return set(`CASE ${when.join(' ')} ELSE ${rest[0]} END`);
}

function set(expression: string | undefined): string {
  return `waits_on = ${expression}`;
}

function waitText(place: ItemPlace): string {
  return isOpenPlace(place) ? sqlList([place]) : 'NULL';
}

function epochAfter({ epoch }: ItemMove): string | undefined {
  return epoch === 'raise' ? 'epoch = items.epoch + 1' : undefined;
}

function conditionsOf({ by, from, job }: ItemMove): string[] {
  return [
    atPlaces(from),
    ...(by === 'holder' ? ['items.epoch = :epoch'] : []),
    ...(job === 'works' ? [isWorkedOn] : []),
  ];
}
