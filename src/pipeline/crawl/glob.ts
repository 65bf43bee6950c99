/**
 * Globs over untrusted text. A glob is an automaton whose states are bits: state i means that its
 * first i characters have matched; a star after them lets the state stay. One pass over the text
 * moves all states at once, so the time is proportional to the text and the glob, however many
 * stars it has. A regular expression would try each star at each position.
 */

export type Glob = (text: string) => boolean;

const slash = 47;

/** `*` matches anything but a slash, `**` anything, `?` one character but a slash. */
export function compileGlob(glob: string): Glob {
  const { literal, isWhole } = openingOf(glob);
  if (isWhole) return (text) => text === literal;
  const automaton = automatonOf(glob.slice(literal.length));
  return (text) => text.startsWith(literal) && runs(automaton, text, literal.length);
}

/** The number of wildcards of a glob; `**` is one. */
export function countWildcards(glob: string): number {
  return glob.match(/\*\*|[*?]/g)?.length ?? 0;
}

/** Fast path: most globs differ from most texts before their first wildcard. */
function openingOf(glob: string): { readonly literal: string; readonly isWhole: boolean } {
  const first = glob.search(/[*?]/);
  return { literal: first < 0 ? glob : glob.slice(0, first), isWhole: first < 0 };
}

interface Automaton {
  /** The number of 32-bit words. */
  readonly size: number;
  /** The states that this character reaches from the state before them. */
  readonly reached: ReadonlyMap<number, Uint32Array>;
  /** The states that any character but a slash reaches: after a question mark. */
  readonly reachedByAny: Uint32Array;
  /** The states that a character keeps: `**` any, `*` any but a slash. */
  readonly staying: Uint32Array;
  readonly stayingOverSlash: Uint32Array;
  readonly last: number;
}

function automatonOf(glob: string): Automaton {
  const size = (glob.length >>> 5) + 1;
  const sets = { staying: new Uint32Array(size), stayingOverSlash: new Uint32Array(size) };
  const reachedByAny = new Uint32Array(size);
  const reached = new Map<number, Uint32Array>();
  let state = 0;
  for (let at = 0; at < glob.length; at += 1) {
    const character = glob[at];
    if (character === '*') {
      include(sets.staying, state);
      if (glob[at + 1] !== '*') continue;
      include(sets.stayingOverSlash, state);
      at += 1;
      continue;
    }
    state += 1;
    if (character === '?') include(reachedByAny, state);
    else include(setOf(reached, glob.charCodeAt(at), size), state);
  }
  for (const set of reached.values()) merge(set, reachedByAny, reached.get(slash) === set);
  return { ...sets, size, reached, reachedByAny, last: state };
}

function setOf(sets: Map<number, Uint32Array>, code: number, size: number): Uint32Array {
  const set = sets.get(code) ?? new Uint32Array(size);
  sets.set(code, set);
  return set;
}

function include(set: Uint32Array, state: number): void {
  set[state >>> 5] = (set[state >>> 5] as number) | (1 << (state & 31));
}

function merge(set: Uint32Array, other: Uint32Array, isSlash: boolean): void {
  if (isSlash) return;
  for (let word = 0; word < set.length; word += 1) {
    set[word] = (set[word] as number) | (other[word] as number);
  }
}

function runs(automaton: Automaton, text: string, from: number): boolean {
  const { size, reached, reachedByAny, staying, stayingOverSlash, last } = automaton;
  const none = new Uint32Array(size);
  const states = new Uint32Array(size);
  states[0] = 1;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const next = reached.get(code) ?? (code === slash ? none : reachedByAny);
    const kept = code === slash ? stayingOverSlash : staying;
    let carried = 0;
    let any = 0;
    for (let word = 0; word < size; word += 1) {
      const current = states[word] as number;
      const moved = (((current << 1) | carried) & (next[word] as number)) >>> 0;
      carried = current >>> 31;
      states[word] = moved | (current & (kept[word] as number));
      any |= states[word] as number;
    }
    if (any === 0) return false;
  }
  return ((states[last >>> 5] as number) & (1 << (last & 31))) !== 0;
}
