/** Keeps the best of many, in a heap whose root is the worst one kept. */
export class Top {
  readonly #size: number;
  readonly #isLater: (slot: number, other: number) => boolean;
  readonly #slots: Int32Array;
  readonly #scores: Float64Array;
  #count = 0;

  constructor(
    size: number,
    /** Tie-break for equal scores: true if the first slot comes later. */
    isLater: (slot: number, other: number) => boolean,
  ) {
    this.#size = size;
    this.#isLater = isLater;
    this.#slots = new Int32Array(size);
    this.#scores = new Float64Array(size);
  }

  /** Lower scores are not kept. */
  get threshold(): number {
    return this.#count < this.#size ? -Infinity : (this.#scores[0] as number);
  }

  offer(slot: number, score: number): void {
    if (this.#count < this.#size) {
      this.#rise(this.#count++, slot, score);
    } else if (this.#size > 0 && !this.#isWorse(slot, score, 0)) {
      this.#sink(slot, score);
    }
  }

  /** Best first. */
  sorted(): { slot: number; score: number }[] {
    const rows = Array.from({ length: this.#count }, (_, place) => ({
      slot: this.#slotAt(place),
      score: this.#scoreAt(place),
    }));
    return rows.sort((a, b) => b.score - a.score || (this.#isLater(a.slot, b.slot) ? 1 : -1));
  }

  /** Adds an entry at the end and moves better entries above it down. */
  #rise(from: number, slot: number, score: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#isWorse(slot, score, parent)) break;
      this.#move(parent, place);
      place = parent;
    }
    this.#slots[place] = slot;
    this.#scores[place] = score;
  }

  /** Replaces the root and moves worse entries below it up. */
  #sink(slot: number, score: number): void {
    let place = 0;
    for (let child = 1; child < this.#count; child = 2 * place + 1) {
      const next = child + 1;
      if (next < this.#count && this.#isWorseAt(next, child)) child = next;
      if (this.#isWorse(slot, score, child)) break;
      this.#move(child, place);
      place = child;
    }
    this.#slots[place] = slot;
    this.#scores[place] = score;
  }

  #move(from: number, to: number): void {
    this.#slots[to] = this.#slots[from] as number;
    this.#scores[to] = this.#scores[from] as number;
  }

  /** Slots are unique, so one of two is always worse. */
  #isWorse(slot: number, score: number, other: number): boolean {
    const otherScore = this.#scoreAt(other);
    return score < otherScore || (score === otherScore && this.#isLater(slot, this.#slotAt(other)));
  }

  #isWorseAt(place: number, other: number): boolean {
    const one = this.#scoreAt(place);
    const two = this.#scoreAt(other);
    return one < two || (one === two && this.#isLater(this.#slotAt(place), this.#slotAt(other)));
  }

  #slotAt(place: number): number {
    return this.#slots[place] as number;
  }

  #scoreAt(place: number): number {
    return this.#scores[place] as number;
  }
}
