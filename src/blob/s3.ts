/**
 * Blobs as objects of an S3 bucket, named by their hash. The server checks the hash on upload, so
 * an object is whole or absent. `sweep-bucket.ts` describes how a sweep avoids losing a blob that
 * is stored again at the same time.
 */
import { createHash } from 'node:crypto';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { failpoint } from '../observe/failpoint.ts';
import type { StreamedBlobStore, SweptBlobs } from './blob.ts';
import { Bucket, type BucketOptions, type BucketResponse, type SentBody } from './bucket.ts';
import { spool } from './spool.ts';
import { asideOf, objectOf, restore, sweepBucket } from './sweep-bucket.ts';

export interface BlobBucketOptions extends BucketOptions {
  /** The prefix of object names, without a trailing slash. */
  readonly prefix?: string | undefined;
}

/** Partitions are named by the first two hex digits of the keys. */
const parts = 256;

export interface BlobBucket extends StreamedBlobStore, SweptBlobs {
  check(): Promise<string>;
  close(): Promise<void>;
}

export function openBlobBucket({ prefix = '', ...options }: BlobBucketOptions): BlobBucket {
  const bucket = new Bucket(options);
  const { world } = options;
  const at = prefix === '' ? '' : `${prefix}/`;
  const store = (key: string, body: SentBody) => putUnlessYoung({ bucket, at, world }, key, body);
  return {
    async put(bytes) {
      const key = createHash('sha256').update(bytes).digest('hex');
      await store(key, { hash: key, bytes: bytes.length, open: () => bytes });
      return key;
    },
    async putStream(pieces) {
      const spooled = await spool(pieces);
      try {
        await store(spooled.hash, spooled);
        return { key: spooled.hash, bytes: spooled.bytes };
      } finally {
        await spooled.close();
      }
    },
    async get(key) {
      const bytes = await bucket.bytesOf(await read({ bucket, at }, key));
      if (createHash('sha256').update(bytes).digest('hex') === key) return bytes;
      throw new Failure('provider_unavailable', `${bucket.name} returned other bytes than ${key}`);
    },
    async getPart(key, place) {
      const range = `bytes=${place.at}-${place.at + place.bytes - 1}`;
      const bytes = await bucket.bytesOf(await read({ bucket, at }, key, { range }));
      if (bytes.length === place.bytes) return bytes;
      throw new Failure('source_missing', `the stored bytes ${key} are cut short`);
    },
    async getStream(key) {
      return (await read({ bucket, at }, key)).body;
    },
    parts,
    sweep: ({ part, ...sweep }) => sweepBucket({ bucket, at, part }, sweep),
    async check() {
      const query = { 'list-type': '2', 'max-keys': '1', prefix: at };
      const answer = await bucket.send({ method: 'GET', name: '', query });
      await answer?.body.dump();
      if (answer) return `S3, ${bucket.name}`;
      throw new Failure('provider_bad_request', `${bucket.name} does not exist: create it first`);
    },
    close: () => bucket.close(),
  };
}

interface Where {
  readonly bucket: Bucket;
  readonly at: string;
}

/**
 * A young object will not be swept before it is used. An old one is stored again to make it young.
 */
async function putUnlessYoung(
  { bucket, at, world }: Where & { readonly world: World },
  key: string,
  body: SentBody,
): Promise<void> {
  const name = objectOf(at, key);
  const there = await bucket.send({ method: 'HEAD', name });
  await there?.body.dump();
  const changedAt = Date.parse(String(there?.headers['last-modified'] ?? ''));
  if (world.now() - changedAt < limits.loop.blobGraceMs / 2) return;
  failpoint(world, 'blob.before-write');
  const answer = await bucket.send({ method: 'PUT', name, body });
  await answer?.body.dump();
  if (!answer) throw new Failure('provider_bad_request', `${bucket.name} takes nothing`);
}

async function read(
  { bucket, at }: Where,
  key: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<BucketResponse> {
  const sending = { method: 'GET', name: objectOf(at, key), headers } as const;
  const found = await bucket.send(sending);
  if (found) return found;
  // A sweep may have set it aside while it was being stored again.
  await restore({ bucket, at }, key, asideOf(at, key));
  const again = await bucket.send(sending);
  if (again) return again;
  throw new Failure('source_missing', `the stored bytes ${key} are gone`);
}
