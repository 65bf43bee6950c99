/**
 * The waiting line for a thread or a process. The shortest document goes first: behind many long
 * ones it would wait for all of them, while they hardly notice it. Every few turns the oldest entry
 * goes first, so that none starves.
 */
const turnsOfShortest = 3;

export interface Waiter {
  /** The length of its document. */
  readonly length: number;
}

export class WaitingLine<One extends Waiter> {
  /** In order of arrival. */
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

  /** Removes the next entry; undefined if the line is empty. */
  take(): One | undefined {
    const next = this.#next();
    if (!next) return undefined;
    this.#turns += 1;
    this.#waiting.delete(next);
    return next;
  }

  /** Removes all entries, in order of arrival. */
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
