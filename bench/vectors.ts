/**
 * Speed and recall of the vector scan, on clustered vectors of 256 dimensions. Recall is against
 * the exact cosine of the vectors before quantization.
 */
import { limits } from '../src/kernel/limits/limits.ts';
import { fromSignedBytes, toSignedBytes } from '../src/provider/embedding/vector-bytes.ts';
import { Arena, toQuery } from '../src/search/vector/arena.ts';
import { Partition, type VectorHit } from '../src/search/vector/partition.ts';
import { rescore } from '../src/search/vector/rescore.ts';
import type { Section } from './measure/figure.ts';

export const dimensions = 256;
const clusters = 1000;
const spread = 0.6;
export const chunksPerDocument = 20;

export interface VectorOptions {
  readonly size: number;
  readonly queries: number;
}

export function benchVectors({ size, queries: queryCount }: VectorOptions): Section {
  const source = new VectorSource(7);
  const queries = Array.from({ length: queryCount }, () => source.next());
  const { arena, partition, stored, truth } = fill(source, queries, size);
  const bytesOf = ({ generationId, ordinal }: VectorHit) => stored[generationId - 1 + ordinal];
  const found = { rough: 0, whole: 0 };
  let cpuMicros = 0;
  for (const [index, query] of queries.entries()) {
    const words = fromSignedBytes(toSignedBytes(query));
    const before = process.threadCpuUsage();
    const rough = partition.search(toQuery(words), limits.search.candidatesMax);
    const whole = rescore(rough.slice(0, limits.search.rescoredMin), words, bytesOf);
    const { user, system } = process.threadCpuUsage(before);
    cpuMicros += user + system;
    const places = truth[index]?.places() ?? [];
    found.rough += sharedBy(places, rough);
    found.whole += sharedBy(places, whole);
  }
  const share = (count: number) => count / (queryCount * 10);
  const mean = cpuMicros / 1000 / queryCount;
  return {
    title: `Vectors: ${size}`,
    note: `The scan alone, for ${limits.search.candidatesMax} candidates, in processor time; ${
      arena.isSimd ? 'with SIMD' : 'without SIMD'
    }.`,
    figures: [
      { name: 'recall@10', value: share(found.whole), digits: 4, target: { atLeast: 0.99 } },
      { name: 'recall@10 by the high bytes alone', value: share(found.rough), digits: 4 },
      { name: 'a query', value: mean, digits: 2, unit: 'ms' },
      { name: 'memory of the scan', value: arena.heldBytes / 2 ** 20, digits: 0, unit: 'MiB' },
    ],
  };
}

function fill(source: VectorSource, queries: readonly Float32Array[], size: number) {
  const truth = queries.map(() => new Nearest(10));
  const arena = new Arena();
  const partition = new Partition(arena, dimensions);
  const stored: Uint8Array[] = [];
  for (let first = 0; first < size; first += chunksPerDocument) {
    const vectors = Array.from({ length: chunksPerDocument }, () => source.next());
    for (const [index, query] of queries.entries()) {
      vectors.forEach((vector, place) => {
        truth[index]?.offer(first + place, dot(query, vector));
      });
    }
    const bytes = vectors.map(toSignedBytes);
    stored.push(...bytes);
    const high = Buffer.concat(bytes.map((all) => all.subarray(0, dimensions)));
    partition.put(`d${first}`, first + 1, { ordinals: [...bytes.keys()], bytes: high });
  }
  return { arena, partition, stored, truth };
}

export function sharedBy(places: readonly number[], hits: readonly VectorHit[]): number {
  const first = hits.slice(0, 10).map((hit) => hit.generationId - 1 + hit.ordinal);
  return places.filter((place) => first.includes(place)).length;
}

/** Points around centres, of unit length, deterministic. */
export class VectorSource {
  #state: number;
  readonly #centres: Float32Array[];

  constructor(seed: number) {
    this.#state = seed;
    this.#centres = Array.from({ length: clusters }, () => this.#gaussian(undefined));
  }

  next(): Float32Array {
    return this.#gaussian(this.#centres[Math.floor(this.#random() * clusters)]);
  }

  #gaussian(centre: Float32Array | undefined): Float32Array {
    const vector = new Float32Array(dimensions);
    let sum = 0;
    for (let place = 0; place < dimensions; place++) {
      const noise = this.#random() + this.#random() + this.#random() - 1.5;
      const value = centre ? (centre[place] ?? 0) * 8 + noise * spread : noise;
      vector[place] = value;
      sum += value * value;
    }
    const length = Math.sqrt(sum);
    return vector.map((value) => value / length);
  }

  #random(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) | 0;
    return (this.#state >>> 8) / 2 ** 24;
  }
}

export class Nearest {
  readonly #size: number;
  readonly #best: { place: number; score: number }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  offer(place: number, score: number): void {
    if (this.#best.length === this.#size && score <= (this.#best.at(-1)?.score ?? 0)) return;
    this.#best.push({ place, score });
    this.#best.sort((a, b) => b.score - a.score);
    this.#best.length = Math.min(this.#best.length, this.#size);
  }

  places(): number[] {
    return this.#best.map(({ place }) => place);
  }
}

export function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let place = 0; place < dimensions; place++) {
    sum += (one[place] as number) * (other[place] as number);
  }
  return sum;
}
