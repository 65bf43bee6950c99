/**
 * How fast and how exact the vector scan is, on clustered vectors of 256 dimensions.
 *
 *   node bench/vectors.ts [--sizes 100000,1000000] [--queries 50]
 *
 * Recall is against the exact cosine of the vectors as they were before they became bytes. `cpu` is
 * the processor's time for a query, which other work on the machine does not change.
 */
import { parseArgs } from 'node:util';
import { Arena, toQuery } from '../src/search/vector/arena.ts';
import { Partition } from '../src/search/vector/partition.ts';

const dimensions = 256;
const clusters = 1000;
const spread = 0.6;
const chunksPerDocument = 20;

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100000,1000000' },
    queries: { type: 'string', default: '50' },
  },
});
function measure(size: number, queryCount: number): void {
  const source = new VectorSource(7);
  const queries = Array.from({ length: queryCount }, () => source.next());
  const truth = queries.map(() => new Nearest(10));
  const arena = new Arena();
  const partition = new Partition(arena, dimensions);
  let buildMs = 0;
  for (let first = 0; first < size; first += chunksPerDocument) {
    const vectors = Array.from({ length: chunksPerDocument }, () => source.next());
    for (const [index, query] of queries.entries()) {
      vectors.forEach((vector, place) => {
        truth[index]?.offer(first + place, dot(query, vector));
      });
    }
    const rows = vectors.map((vector, ordinal) => ({ ordinal, vector: toBytes(vector) }));
    const startedAt = performance.now();
    partition.put(`d${first}`, first + 1, rows);
    buildMs += performance.now() - startedAt;
  }
  let found = 0;
  const times: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (const [index, query] of queries.entries()) {
    const startedAt = performance.now();
    const hits = partition.search(toQuery(query), 10);
    times.push(performance.now() - startedAt);
    const places = new Set(hits.map((hit) => hit.generationId - 1 + hit.ordinal));
    found += truth[index]?.places().filter((place) => places.has(place)).length ?? 0;
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
  const cpu = ((user + system) / 1000 / queryCount).toFixed(2);
  const recall = (found / (queryCount * 10)).toFixed(3);
  const memory = Math.round(arena.heldBytes / 2 ** 20);
  console.log(
    `${size} vectors: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, cpu ${cpu} ms, recall@10 ${recall}, ` +
      `put ${Math.round(buildMs)} ms, ${memory} MiB, ${arena.isSimd ? 'SIMD' : 'plain'}`,
  );
}

/** Points around centres, of unit length; the same each time. */
class VectorSource {
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

class Nearest {
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

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let place = 0; place < dimensions; place++) {
    sum += (one[place] as number) * (other[place] as number);
  }
  return sum;
}

function toBytes(vector: Float32Array): Uint8Array {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const bytes = new Int8Array(dimensions);
  for (let place = 0; place < dimensions; place++) {
    bytes[place] = Math.round(((vector[place] as number) * 127) / largest);
  }
  return new Uint8Array(bytes.buffer);
}

for (const size of values.sizes.split(',').map(Number)) measure(size, Number(values.queries));
