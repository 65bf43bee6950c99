/**
 * The inner loop of the vector scan: WebAssembly with SIMD, assembled here from instructions.
 *
 *   for each of `count` vectors of signed bytes at `vectors`:
 *     the 32-bit integer at `scores` = its dot product with the 16-bit query at `query`
 *
 * Eight bytes are widened, multiplied and added in pairs by two instructions. All sums are exact.
 * `query` ends at `queryEnd`; the dimensions are a multiple of 32.
 */
export type Scan = (
  vectors: number,
  count: number,
  query: number,
  queryEnd: number,
  scores: number,
) => void;

/** The part of the WebAssembly API used here; TypeScript declares it only in its DOM library. */
interface Api {
  readonly Memory: new (size: { initial: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { exports: { scan: Scan } };
  validate(bytes: Uint8Array): boolean;
}

export interface Memory {
  /** Replaced by every growth. */
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const { WebAssembly: api } = globalThis as unknown as { WebAssembly: Api };

export function newMemory(): Memory {
  return new api.Memory({ initial: 1 });
}

/** The compiled loop over this memory; undefined if the machine has no SIMD. */
export function simdScan(memory: Memory): Scan | undefined {
  const bytes = assemble();
  if (!api.validate(bytes)) return undefined;
  return new api.Instance(new api.Module(bytes), { host: { memory } }).exports.scan;
}

/** The same in plain JavaScript. The memory may have grown since the last call. */
export function plainScan(memory: Memory): Scan {
  return (vectors, count, query, queryEnd, scores) => {
    const bytes = new Int8Array(memory.buffer);
    const words = new Int16Array(memory.buffer, query, (queryEnd - query) / 2);
    const sums = new Int32Array(memory.buffer, scores, count);
    for (let vector = 0; vector < count; vector++) {
      const start = vectors + vector * words.length;
      let sum = 0;
      for (let place = 0; place < words.length; place++) {
        sum += (bytes[start + place] as number) * (words[place] as number);
      }
      sums[vector] = sum;
    }
  };
}

const i32 = 0x7f;
const v128 = 0x7b;
const nothing = 0x40;

const local = { vectors: 0, count: 1, query: 2, queryEnd: 3, scores: 4, place: 5, even: 6, odd: 7 };
const get = (name: keyof typeof local) => [0x20, local[name]];
const set = (name: keyof typeof local) => [0x21, local[name]];
const tee = (name: keyof typeof local) => [0x22, local[name]];
const constant = (value: number) => [0x41, ...signed(value)];
const add = [0x6a];
const subtract = [0x6b];
const isLess = [0x49];
const isZero = [0x45];
const storeInteger = [0x36, 2, 0];
const block = (...body: number[][]) => [0x02, nothing, ...body.flat(), 0x0b];
const loop = (...body: number[][]) => [0x03, nothing, ...body.flat(), 0x0b];
const branch = (depth: number) => [0x0c, depth];
const branchIf = (depth: number) => [0x0d, depth];
const zeroes = [0xfd, 0x0c, ...new Array(16).fill(0)];
const loadWide = (offset: number) => [0xfd, 0x00, 0, ...unsigned(offset)];
const loadWidened = (offset: number) => [0xfd, 0x01, 0, ...unsigned(offset)];
const dotPairs = [0xfd, 0xba, 0x01];
const addLanes = [0xfd, 0xae, 0x01];
const lane = (index: number) => [0xfd, 0x1b, index];

/** Eight dimensions: `sum` += vector[offset…] · query[2 × offset…]. */
function step(sum: 'even' | 'odd', offset: number): number[] {
  const vector = [...get('vectors'), ...loadWidened(offset)];
  const query = [...get('place'), ...loadWide(offset * 2)];
  return [...get(sum), ...vector, ...query, ...dotPairs, ...addLanes, ...set(sum)];
}

function body(): number[] {
  const dimensions = loop(
    step('even', 0),
    step('odd', 8),
    step('even', 16),
    step('odd', 24),
    [...get('vectors'), ...constant(32), ...add, ...set('vectors')],
    [...get('place'), ...constant(64), ...add, ...tee('place')],
    [...get('queryEnd'), ...isLess, ...branchIf(0)],
  );
  const lanes = [0, 1, 2, 3].map((index) => [...get('even'), ...lane(index)]);
  const vectors = loop(
    [...get('count'), ...isZero, ...branchIf(1)],
    [...get('query'), ...set('place'), ...zeroes, ...set('even'), ...zeroes, ...set('odd')],
    dimensions,
    [...get('even'), ...get('odd'), ...addLanes, ...set('even')],
    [...get('scores'), ...lanes.flat(), ...add, ...add, ...add, ...storeInteger],
    [...get('scores'), ...constant(4), ...add, ...set('scores')],
    [...get('count'), ...constant(1), ...subtract, ...set('count'), ...branch(0)],
  );
  return block(vectors);
}

function assemble(): Uint8Array<ArrayBuffer> {
  const locals = [2, 1, i32, 2, v128];
  const code = [...locals, ...body(), 0x0b];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 5, i32, i32, i32, i32, i32, 0]),
    ...section(2, [1, ...text('host'), ...text('memory'), 0x02, 0x00, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text('scan'), 0x00, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ]);
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function text(value: string): number[] {
  return [value.length, ...Buffer.from(value)];
}

/** LEB128, WebAssembly's encoding of integers. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const isLast = value >= -0x40 && value < 0x40;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
