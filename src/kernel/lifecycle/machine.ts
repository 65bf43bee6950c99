/**
 * A lifecycle is one table. From it come the state and event types, `transition()`, the SQL
 * `CHECK`, the actions a person may take, the Mermaid diagram and the test of every state × event.
 */

/** One row: this event, in any of these states, leads there. */
export type Edge<State extends string, Event extends string> = readonly [
  event: Event,
  from: readonly State[],
  to: State,
];

export interface Machine<State extends string = string, Event extends string = string> {
  readonly name: string;
  readonly initial: State;
  readonly states: readonly State[];
  readonly final: readonly State[];
  /** The events a person may cause; the rest belong to the engine. */
  readonly actions: readonly Event[];
  readonly edges: readonly Edge<State, Event>[];
}

export type StateOf<M> = M extends Machine<infer State, string> ? State : never;
export type EventOf<M> = M extends Machine<string, infer Event> ? Event : never;

export function defineMachine<const State extends string, const Event extends string>(
  machine: Machine<State, Event>,
): Machine<State, Event> {
  return machine;
}

/** Every state the table allows for this event: several only where the item's progress decides. */
export function targets<State extends string, Event extends string>(
  machine: Machine<State, Event>,
  state: State,
  event: Event,
): State[] {
  const rows = machine.edges.filter(([name, from]) => name === event && from.includes(state));
  return [...new Set(rows.map(([, , to]) => to))];
}

/** Where the event leads from this state, or undefined where the table has no such row. */
export function transition<State extends string, Event extends string>(
  machine: Machine<State, Event>,
  state: State,
  event: Event,
): State | undefined {
  const [target, ...others] = targets(machine, state, event);
  if (others.length > 0) {
    const all = [target, ...others].join(', ');
    throw new Error(`${machine.name}: ${event} in ${state} may lead to ${all}; ask targets()`);
  }
  return target;
}

/** The actions that a person may take in this state. */
export function allowedActions<State extends string, Event extends string>(
  machine: Machine<State, Event>,
  state: State,
): Event[] {
  return machine.actions.filter((action) => targets(machine, state, action).length > 0);
}

export function isFinal<State extends string>(
  machine: Machine<State, string>,
  state: State,
): boolean {
  return machine.final.includes(state);
}

export function eventsOf<Event extends string>(machine: Machine<string, Event>): Event[] {
  return [...new Set(machine.edges.map(([event]) => event))];
}

/** The states by name: code that compares one names it from the table. */
export function statesOf<State extends string>(
  machine: Machine<State, string>,
): { readonly [Name in State]: Name } {
  return Object.fromEntries(machine.states.map((state) => [state, state])) as {
    readonly [Name in State]: Name;
  };
}

/** The states that are not final. */
export function openStates<State extends string>(machine: Machine<State, string>): State[] {
  return machine.states.filter((state) => !machine.final.includes(state));
}

/** The states in which the event is allowed. */
export function statesBefore<State extends string, Event extends string>(
  machine: Machine<State, Event>,
  event: Event,
): State[] {
  return machine.states.filter((state) => targets(machine, state, event).length > 0);
}

/** States as an SQL list: `'queued', 'running'`. */
export function sqlList(states: readonly string[]): string {
  return states.map((state) => `'${state}'`).join(', ');
}

/** `CHECK` for a column that holds one of these states. */
export function sqlCheck(machine: Pick<Machine, 'states'>, column: string): string {
  return `CHECK (${column} IN (${sqlList(machine.states)}))`;
}
