/**
 * Lists of numbers by term, in insertion order. Each term has a chain of blocks in a few large
 * pages: the first block is small, each further one twice as large, so rare terms cost little and
 * frequent ones are read in long runs. The last entry of a block is the address of the next.
 */
import { bytesOf, readNumber, type Source } from '../saved/saved-file.ts';

const pageSize = 1 << 18;
const firstBlock = 4;
const largestBlock = 1 << 12;

export class Postings {
  readonly #pages: Int32Array[] = [];
  /** Where the next block may begin. */
  #free = pageSize;
  /** Per term: its first block, the next write position, and the end of its last block. */
  #heads = new Int32Array(1024);
  #tails = new Int32Array(1024);
  #ends = new Int32Array(1024);
  #counts = new Int32Array(1024);

  get heldBytes(): number {
    return this.#pages.length * pageSize * 4 + this.#heads.length * 16;
  }

  /** How many numbers the term has. */
  countOf(term: number): number {
    return this.#counts[term] ?? 0;
  }

  add(term: number, value: number): void {
    if (term >= this.#heads.length) this.#widen(term);
    const count = this.#counts[term] as number;
    if (count === 0) {
      const start = this.#take(firstBlock);
      this.#heads[term] = start;
      this.#tails[term] = start;
      this.#ends[term] = start + firstBlock;
    } else if ((this.#tails[term] as number) === (this.#ends[term] as number) - 1) {
      this.#chain(term);
    }
    const place = this.#tails[term] as number;
    this.#page(place)[place % pageSize] = value;
    this.#tails[term] = place + 1;
    this.#counts[term] = count + 1;
  }

  /** Calls `visit` with each block of the term: its page, start and end. */
  read(term: number, visit: (page: Int32Array, start: number, end: number) => void): void {
    let left = this.countOf(term);
    let start = this.#heads[term] as number;
    for (let size = firstBlock; left > 0; size = Math.min(size * 2, largestBlock)) {
      const page = this.#page(start);
      const from = start % pageSize;
      const count = Math.min(left, size - 1);
      visit(page, from, from + count);
      left -= count;
      start = page[from + size - 1] as number;
    }
  }

  *pieces(terms: number): Generator<Uint8Array> {
    yield bytesOf(Uint32Array.of(terms, this.#pages.length, this.#free));
    for (const values of this.#perTerm(terms)) yield bytesOf(values, terms);
    for (const page of this.#pages) yield bytesOf(page);
  }

  static async read(source: Source): Promise<Postings> {
    const postings = new Postings();
    const terms = await readNumber(source);
    const pages = await readNumber(source);
    postings.#free = await readNumber(source);
    if (terms > 0) postings.#widen(terms - 1);
    for (const values of postings.#perTerm(terms)) await source.fill(bytesOf(values, terms));
    for (let page = 0; page < pages; page++) {
      const numbers = new Int32Array(pageSize);
      await source.fill(bytesOf(numbers));
      postings.#pages.push(numbers);
    }
    return postings;
  }

  /** Terms without numbers, at the end, may have no place yet. */
  #perTerm(terms: number): Int32Array[] {
    if (terms > this.#heads.length) this.#widen(terms - 1);
    return [this.#heads, this.#tails, this.#ends, this.#counts];
  }

  #chain(term: number): void {
    const end = this.#ends[term] as number;
    const size = this.#blockAfter(this.#counts[term] as number);
    const start = this.#take(size);
    this.#page(end - 1)[(end - 1) % pageSize] = start;
    this.#tails[term] = start;
    this.#ends[term] = start + size;
  }

  /** The size of the next block after so many numbers. */
  #blockAfter(count: number): number {
    let size = firstBlock;
    for (let held = size - 1; held < count; held += size - 1) {
      size = Math.min(size * 2, largestBlock);
    }
    return Math.min(size * 2, largestBlock);
  }

  /** A block lies within one page. */
  #take(size: number): number {
    if ((this.#free % pageSize) + size > pageSize || this.#free % pageSize === 0) {
      this.#free = this.#pages.length * pageSize;
      this.#pages.push(new Int32Array(pageSize));
    }
    const start = this.#free;
    this.#free += size;
    return start;
  }

  #page(place: number): Int32Array {
    return this.#pages[Math.floor(place / pageSize)] as Int32Array;
  }

  #widen(term: number): void {
    const size = Math.max(term + 1, this.#heads.length * 2);
    const widened = (values: Int32Array) => {
      const wider = new Int32Array(size);
      wider.set(values);
      return wider;
    };
    this.#heads = widened(this.#heads);
    this.#tails = widened(this.#tails);
    this.#ends = widened(this.#ends);
    this.#counts = widened(this.#counts);
  }
}
