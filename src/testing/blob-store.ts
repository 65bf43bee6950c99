/** What Pawl relies on in a blob store. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { getPart, getPieces, type SweptBlobs, type UsedBlobs } from '../blob/blob.ts';
import { type BlobStorePort, checkBlobStore, pluggedBlobs } from '../port/blob-store.ts';
import { type Case, type Cleanup, conformance } from './conformance.ts';

export interface BlobCase {
  readonly blobs: BlobStorePort;
  /** Makes a blob look old; needed for a store that sweeps. */
  age?(key: string): Promise<void> | void;
}

interface Given {
  readonly blobs: ReturnType<typeof pluggedBlobs> & SweptBlobs;
  age(key: string): Promise<void>;
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const using =
  (...used: string[]): UsedBlobs =>
  async (keys) =>
    new Set(keys.filter((key) => used.includes(key)));

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function gathered(
  pieces: AsyncIterable<Uint8Array> | readonly Uint8Array[],
): Promise<Buffer> {
  const held: Uint8Array[] = [];
  for await (const piece of pieces) held.push(piece);
  return Buffer.concat(held);
}

async function sweep(
  { blobs }: Given,
  used: UsedBlobs,
  { limit = 100, before = Date.now() - 60_000 } = {},
): Promise<number> {
  let removed = 0;
  for (let part = 0; part < blobs.parts; part += 1) {
    removed += await blobs.sweep({ part, before, limit, used });
  }
  return removed;
}

/** Two texts whose keys share a prefix, so that they are in the same part. */
function neighbours(): [string, string] {
  const partOf = (text: string) => hashOf(bytesOf(text)).slice(0, 2);
  for (let at = 1; ; at += 1) if (partOf(`${at}`) === partOf('0')) return ['0', `${at}`];
}

const storing: readonly Case<Given>[] = [
  [
    'bytes come back unchanged, under their hash, even if they are put several times',
    async ({ blobs }) => {
      for (const bytes of [bytesOf(''), bytesOf('walrus'), randomBytes(300_000)]) {
        assert.equal(await blobs.put(bytes), hashOf(bytes));
        assert.equal(await blobs.put(bytes), hashOf(bytes));
        assert.deepEqual(Buffer.from(await blobs.get(hashOf(bytes))), Buffer.from(bytes));
        const pieces = await getPieces(blobs, hashOf(bytes));
        assert.deepEqual(await gathered(pieces), Buffer.from(bytes));
      }
    },
  ],
  [
    'bytes that arrive in pieces are one blob, and an interrupted upload is none',
    async ({ blobs }) => {
      const bytes = randomBytes(2_000_000);
      const put = await blobs.putStream(inPieces(bytes, 70_001));
      assert.deepEqual(put, { key: hashOf(bytes), bytes: bytes.length });
      assert.deepEqual(Buffer.from(await blobs.get(put.key)), bytes);
      const half = async function* () {
        yield bytesOf('half of it');
        throw new Error('the line is cut');
      };
      await assert.rejects(blobs.putStream(half()), /the line is cut/);
      await assert.rejects(blobs.get(hashOf(bytesOf('half of it'))), { code: 'source_missing' });
    },
  ],
  [
    'a part of a blob can be read alone, and a missing blob is reported',
    async ({ blobs }) => {
      const key = await blobs.put(bytesOf('the walrus sleeps'));
      const part = await getPart(blobs, key, { at: 4, bytes: 6 });
      assert.equal(Buffer.from(part).toString(), 'walrus');
      if (!blobs.getPart) return;
      const late = blobs.getPart(key, { at: 12, bytes: 60 });
      await assert.rejects(late, { code: 'source_missing' });
    },
  ],
  [
    'an unknown key is reported as missing',
    async ({ blobs }) => {
      const key = hashOf(bytesOf('never'));
      await assert.rejects(blobs.get(key), { code: 'source_missing' });
      await assert.rejects(getPieces(blobs, key), { code: 'source_missing' });
      const part = getPart(blobs, key, { at: 0, bytes: 1 });
      await assert.rejects(part, { code: 'source_missing' });
    },
  ],
];

const sweeping: readonly Case<Given>[] = [
  [
    'a sweep removes what is old and unused, and nothing else',
    async (given) => {
      const { blobs, age } = given;
      const [used, unused] = [await blobs.put(bytesOf('used')), await blobs.put(bytesOf('unused'))];
      for (const key of [used, unused]) await age(key);
      const young = await blobs.put(bytesOf('young'));
      assert.equal(await sweep(given, using(used)), 1);
      assert.equal(Buffer.from(await blobs.get(young)).toString(), 'young');
      // Quarantined blobs are deleted permanently when they are old themselves.
      await sweep(given, using(used, young), { before: Date.now() + 60_000 });
      assert.equal(Buffer.from(await blobs.get(used)).toString(), 'used');
      await assert.rejects(blobs.get(unused), { code: 'source_missing' });
    },
  ],
  [
    'a sweep keeps young blobs, and old ones that are put again',
    async (given) => {
      const { blobs, age } = given;
      const again = await blobs.put(bytesOf('again'));
      await age(again);
      assert.equal(await blobs.put(bytesOf('again')), again);
      const young = await blobs.put(bytesOf('young'));
      assert.equal(await sweep(given, using()), 0);
      for (const key of [again, young]) await blobs.get(key);
    },
  ],
  [
    'a blob that is put again while it is being removed exists',
    async (given) => {
      const { blobs, age } = given;
      const text = bytesOf('in that moment');
      const key = await blobs.put(text);
      await age(key);
      let isUsed = false;
      const used: UsedBlobs = async (keys) => {
        if (!keys.includes(key) || isUsed) return new Set(isUsed ? keys : []);
        // It is unused when the sweep checks; then it is put, and soon used.
        await blobs.put(text);
        isUsed = true;
        return new Set();
      };
      await sweep(given, used);
      assert.deepEqual(Buffer.from(await blobs.get(key)), Buffer.from(text));
      await sweep(given, used, { before: Date.now() + 60_000 });
      assert.deepEqual(Buffer.from(await blobs.get(key)), Buffer.from(text));
    },
  ],
  [
    'a sweep ends at its limit, continues with the rest, and passes used blobs',
    async (given) => {
      const { blobs, age } = given;
      const keys = await Promise.all(neighbours().map((text) => blobs.put(bytesOf(text))));
      for (const key of keys) await age(key);
      assert.equal(await sweep(given, using(), { limit: 1 }), 1);
      assert.equal(await sweep(given, using(), { limit: 1 }), 1);
      const [one = ''] = await Promise.all(neighbours().map((text) => blobs.put(bytesOf(text))));
      for (const key of keys) await age(key);
      assert.equal(await sweep(given, using(one), { limit: 1 }), 1);
      await blobs.get(one);
    },
  ],
];

/** Registers the tests of a blob store with `node:test`. */
export function blobConformance(
  name: string,
  make: (t: Cleanup) => Promise<BlobCase> | BlobCase,
): void {
  const given = async (t: Cleanup): Promise<Given & { readonly isSwept: boolean }> => {
    const { blobs, age } = await make(t);
    checkBlobStore(blobs);
    const isSwept = blobs.sweep !== undefined && age !== undefined;
    return { blobs: pluggedBlobs(blobs), age: async (key) => age?.(key), isSwept };
  };
  conformance(`blobs in ${name}`, storing, given);
  // Only the store itself says whether it sweeps.
  const whenSwept = sweeping.map(
    ([title, run]): Case<Given & { readonly isSwept: boolean }> => [
      title,
      async (each) => (each.isSwept ? run(each) : undefined),
    ],
  );
  conformance(`sweeping blobs in ${name}`, whenSwept, given);
}
