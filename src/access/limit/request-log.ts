/** Times in the order in which they came, in a ring that grows and shrinks with what it holds. */
const placesMin = 16;

export class RequestLog {
  #ring = new Float64Array(placesMin);
  #first = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** How many it could hold before it grows. */
  get places(): number {
    return this.#ring.length;
  }

  get newest(): number | undefined {
    return this.at(this.#count - 1);
  }

  /** Of those that are held, 0 is the oldest. */
  at(index: number): number | undefined {
    if (index < 0 || index >= this.#count) return undefined;
    return this.#ring[(this.#first + index) % this.#ring.length];
  }

  add(time: number): void {
    if (this.#count === this.#ring.length) this.#resize(this.#ring.length * 2);
    this.#ring[(this.#first + this.#count) % this.#ring.length] = time;
    this.#count += 1;
  }

  /** Forgets what is as old as this or older. */
  dropUntil(time: number): void {
    let dropped = 0;
    while (dropped < this.#count && (this.at(dropped) ?? time) <= time) dropped += 1;
    this.#first = (this.#first + dropped) % this.#ring.length;
    this.#count -= dropped;
    // A quarter, so that a count around the edge does not move everything at each request.
    const quarter = this.#ring.length / 4;
    if (quarter >= placesMin && this.#count <= quarter) this.#resize(this.#ring.length / 2);
  }

  #resize(places: number): void {
    const times = Array.from({ length: this.#count }, (_, index) => this.at(index) ?? 0);
    this.#ring = new Float64Array(places);
    this.#ring.set(times);
    this.#first = 0;
  }
}
