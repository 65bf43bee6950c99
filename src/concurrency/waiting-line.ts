/**
 * Who waits for a thread or a process. The shortest document goes first: behind many long ones it
 * would wait for what all of them take, and they hardly notice it. Every few turns the one that has
 * waited longest goes first, so that none waits for ever.
 */
const turnsOfShortest = 3;

export interface Waiter {
  /** How long its document is. */
  readonly length: number;
}

export class WaitingLine<One extends Waiter> {
  /** In the order in which they came. */
  readonly #waiting = new Set<One>();
  #turns = 0;

  get size(): number {
    return this.#waiting.size;
  }

  add(one: One): void {
    this.#waiting.add(one);
  }

  delete(one: One): void {
    this.#waiting.delete(one);
  }

  /** Removes whose turn it is; undefined where nobody waits. */
  take(): One | undefined {
    const next = this.#next();
    if (!next) return undefined;
    this.#turns += 1;
    this.#waiting.delete(next);
    return next;
  }

  /** Removes all, in the order in which they came. */
  clear(): One[] {
    const all = [...this.#waiting];
    this.#waiting.clear();
    return all;
  }

  #next(): One | undefined {
    const [oldest] = this.#waiting;
    if (!oldest || this.#turns % (turnsOfShortest + 1) === turnsOfShortest) return oldest;
    let shortest = oldest;
    for (const one of this.#waiting) if (one.length < shortest.length) shortest = one;
    return shortest;
  }
}
