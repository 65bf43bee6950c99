/** Timestamps in order of arrival, in a ring buffer that grows and shrinks. */
const placesMin = 16;

export class RequestLog {
  #ring = new Float64Array(placesMin);
  #first = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The current capacity of the ring. */
  get places(): number {
    return this.#ring.length;
  }

  get newest(): number | undefined {
    return this.at(this.#count - 1);
  }

  /** Index 0 is the oldest. */
  at(index: number): number | undefined {
    if (index < 0 || index >= this.#count) return undefined;
    return this.#ring[(this.#first + index) % this.#ring.length];
  }

  add(time: number): void {
    if (this.#count === this.#ring.length) this.#resize(this.#ring.length * 2);
    this.#ring[(this.#first + this.#count) % this.#ring.length] = time;
    this.#count += 1;
  }

  /** Removes entries at or before this time. */
  dropUntil(time: number): void {
    let dropped = 0;
    while (dropped < this.#count && (this.at(dropped) ?? time) <= time) dropped += 1;
    this.#first = (this.#first + dropped) % this.#ring.length;
    this.#count -= dropped;
    // A quarter, so that a count around the threshold does not resize at each request.
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
