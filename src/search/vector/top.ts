/** The best of many, in a heap whose root is the worst one kept. */
export class Top {
  readonly #size: number;
  readonly #isWorse: (slot: number, score: number, other: number, otherScore: number) => boolean;
  readonly #slots: number[] = [];
  readonly #scores: number[] = [];

  constructor(
    size: number,
    /** Decides between two slots of the same score: true if the first one comes later. */
    isLater: (slot: number, other: number) => boolean,
  ) {
    this.#size = size;
    this.#isWorse = (slot, score, other, otherScore) =>
      score < otherScore || (score === otherScore && isLater(slot, other));
  }

  /** A score below this one is not kept. */
  get threshold(): number {
    return this.#slots.length < this.#size ? -Infinity : (this.#scores[0] as number);
  }

  offer(slot: number, score: number): void {
    if (this.#slots.length < this.#size) {
      this.#slots.push(slot);
      this.#scores.push(score);
      this.#rise(this.#slots.length - 1);
    } else if (this.#size > 0 && this.#isWorse(this.#at(0), this.threshold, slot, score)) {
      this.#slots[0] = slot;
      this.#scores[0] = score;
      this.#sink(0);
    }
  }

  /** Best first. */
  sorted(): { slot: number; score: number }[] {
    const rows = this.#slots.map((slot, place) => ({ slot, score: this.#scores[place] as number }));
    return rows.sort((a, b) => (this.#isWorse(a.slot, a.score, b.slot, b.score) ? 1 : -1));
  }

  #rise(from: number): void {
    for (let place = from; place > 0; ) {
      const parent = (place - 1) >> 1;
      if (!this.#isWorseAt(place, parent)) return;
      this.#swap(place, parent);
      place = parent;
    }
  }

  #sink(from: number): void {
    for (let place = from; ; ) {
      let worst = place;
      for (const child of [2 * place + 1, 2 * place + 2]) {
        if (child < this.#slots.length && this.#isWorseAt(child, worst)) worst = child;
      }
      if (worst === place) return;
      this.#swap(place, worst);
      place = worst;
    }
  }

  #isWorseAt(place: number, other: number): boolean {
    return this.#isWorse(
      this.#at(place),
      this.#scores[place] as number,
      this.#at(other),
      this.#scores[other] as number,
    );
  }

  #at(place: number): number {
    return this.#slots[place] as number;
  }

  #swap(place: number, other: number): void {
    const slot = this.#at(place);
    const score = this.#scores[place] as number;
    this.#slots[place] = this.#at(other);
    this.#scores[place] = this.#scores[other] as number;
    this.#slots[other] = slot;
    this.#scores[other] = score;
  }
}
