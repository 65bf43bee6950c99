/** Assigns numbers to terms in insertion order: a hash table keyed as in packed words. */
import type { TermKey } from '../../pipeline/word/packed-words.ts';
import { bytesOf, readNumber, type Source } from '../saved/saved-file.ts';

export class TermTable {
  /** Per table entry: the number of its term, plus one. */
  #places = new Int32Array(2048);
  #hashes = new Uint32Array(1024);
  #checks = new Uint8Array(1024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Undefined if the term is unknown. */
  find({ hash, check }: TermKey): number | undefined {
    const term = (this.#places[this.#placeOf(hash, check)] as number) - 1;
    return term < 0 ? undefined : term;
  }

  /** The number of the term; assigns one if it has none. */
  numberOf(hash: number, check: number): number {
    const place = this.#placeOf(hash, check);
    const known = (this.#places[place] as number) - 1;
    if (known >= 0) return known;
    if (this.#size === this.#hashes.length) {
      this.#grow();
      return this.#add(this.#placeOf(hash, check), hash, check);
    }
    return this.#add(place, hash, check);
  }

  *pieces(): Generator<Uint8Array> {
    yield bytesOf(Uint32Array.of(this.#size, this.#hashes.length));
    yield bytesOf(this.#hashes, this.#size);
    yield bytesOf(this.#checks, this.#size);
    yield bytesOf(this.#places);
  }

  static async read(source: Source): Promise<TermTable> {
    const table = new TermTable();
    table.#size = await readNumber(source);
    const room = await readNumber(source);
    table.#hashes = new Uint32Array(room);
    table.#checks = new Uint8Array(room);
    table.#places = new Int32Array(room * 2);
    await source.fill(bytesOf(table.#hashes, table.#size));
    await source.fill(bytesOf(table.#checks, table.#size));
    await source.fill(bytesOf(table.#places));
    return table;
  }

  #add(place: number, hash: number, check: number): number {
    this.#hashes[this.#size] = hash;
    this.#checks[this.#size] = check;
    this.#size += 1;
    this.#places[place] = this.#size;
    return this.#size - 1;
  }

  /** The table index of the term, existing or free. */
  #placeOf(hash: number, check: number): number {
    const last = this.#places.length - 1;
    for (let place = hash & last; ; place = (place + 1) & last) {
      const term = (this.#places[place] as number) - 1;
      if (term < 0 || (this.#hashes[term] === hash && this.#checks[term] === check)) return place;
    }
  }

  /** Half of the entries stay empty, so that probe sequences are short. */
  #grow(): void {
    const [hashes, checks] = [this.#hashes, this.#checks];
    this.#hashes = new Uint32Array(hashes.length * 2);
    this.#hashes.set(hashes);
    this.#checks = new Uint8Array(checks.length * 2);
    this.#checks.set(checks);
    this.#places = new Int32Array(this.#places.length * 2);
    for (let term = 0; term < this.#size; term++) {
      const place = this.#placeOf(hashes[term] as number, checks[term] as number);
      this.#places[place] = term + 1;
    }
  }
}
