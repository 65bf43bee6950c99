/** A min-heap of numbers. */
export class NumberHeap {
  readonly #values: Float64Array;
  #size = 0;

  constructor(sizeMax: number) {
    this.#values = new Float64Array(sizeMax);
  }

  push(value: number): void {
    const values = this.#values;
    let place = this.#size++;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = values[parent] as number;
      if (above <= value) break;
      values[place] = above;
      place = parent;
    }
    values[place] = value;
  }

  pop(): number | undefined {
    if (this.#size === 0) return undefined;
    const values = this.#values;
    const smallest = values[0] as number;
    this.#size -= 1;
    const last = values[this.#size] as number;
    let place = 0;
    for (let child = 1; child < this.#size; child = 2 * place + 1) {
      const right = child + 1;
      if (right < this.#size && (values[right] as number) < (values[child] as number))
        child = right;
      if ((values[child] as number) >= last) break;
      values[place] = values[child] as number;
      place = child;
    }
    values[place] = last;
    return smallest;
  }
}
