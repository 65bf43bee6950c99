/**
 * Objects of an S3 bucket as a source. A listing has the ETag of each object, which is its stamp:
 * an unchanged object is not read.
 */
import { Bucket } from '../../blob/bucket.ts';
import {
  compareKeys,
  type FollowedPlace,
  type Listed,
  type ListedPage,
  type ListFrom,
  type SourceKind,
} from '../../engine/sync/source-kind.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { childOf, childrenOf, readXml, textOf } from '../../pipeline/extract/format/xml/xml.ts';
import { isIgnored } from '../files.ts';
import { wantedBy } from './wanted.ts';

export interface BucketKeys {
  readonly keyId: string;
  readonly secret: string;
  readonly session?: string | undefined;
  readonly region?: string | undefined;
}

export interface BucketKindOptions {
  readonly world: World;
  readonly keys?: BucketKeys | undefined;
}

export function bucketKind(options: BucketKindOptions): SourceKind {
  return {
    name: 'bucket',
    check: async (place) => {
      const { bucket, prefix } = partsOf(place.location);
      await using(options, place, async (opened) => {
        const query = { 'list-type': '2', 'max-keys': '1', prefix };
        await (await opened.send({ method: 'GET', name: '', query }))?.body.dump();
      });
      return `s3://${bucket}/${prefix}`;
    },
    list: (place, from) => list(options, place, from),
    read: (place, key) => using(options, place, (bucket) => read(bucket, place, key)),
    sourceOf: (place, key) => ({ kind: 'upload', source: `${folderOf(place)}${key}` }),
  };
}

function partsOf(location: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?(.*)$/.exec(location) ?? [];
  if (bucket === undefined) {
    throw new Failure('bad_request', `${location} names no bucket: use s3://BUCKET/PREFIX`);
  }
  return { bucket, prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/` };
}

function folderOf({ location }: FollowedPlace): string {
  const { bucket, prefix } = partsOf(location);
  return `s3://${bucket}/${prefix}`;
}

async function using<T>(
  { world, keys }: BucketKindOptions,
  { location, options: { endpoint } }: FollowedPlace,
  work: (bucket: Bucket) => Promise<T>,
): Promise<T> {
  if (!keys) {
    const message = `${location} needs a key: set PAWL_BUCKET_KEY_ID and PAWL_BUCKET_SECRET`;
    throw new Failure('bad_request', message);
  }
  const { keyId: accessKeyId, secret, session: sessionToken, region = 'us-east-1' } = keys;
  const credentials = { accessKeyId, secretAccessKey: secret, sessionToken, region };
  const { bucket: name } = partsOf(location);
  const bucket = new Bucket({ bucket: name, endpoint, credentials, world });
  try {
    return await work(bucket);
  } finally {
    await bucket.close();
  }
}

/** Not every server lists in the order of the bytes, so the whole listing is sorted. */
async function* list(
  options: BucketKindOptions,
  place: FollowedPlace,
  { after, signal }: ListFrom,
): AsyncGenerator<ListedPage> {
  const isWanted = wantedBy(place);
  const objects = await using(options, place, (bucket) => objectsOf(bucket, place, signal));
  const wanted = objects.filter(({ key }) => compareKeys(key, after) > 0 && isWanted(key));
  const entries = wanted.sort((one, other) => compareKeys(one.key, other.key));
  for (let at = 0; at < entries.length; at += limits.sync.pageMax) {
    yield { entries: entries.slice(at, at + limits.sync.pageMax), problems: [] };
  }
}

async function objectsOf(
  bucket: Bucket,
  { location }: FollowedPlace,
  signal: AbortSignal,
): Promise<Listed[]> {
  const { prefix } = partsOf(location);
  const found: Listed[] = [];
  let token: string | undefined;
  do {
    signal.throwIfAborted();
    const page = await pageOf(bucket, prefix, token);
    for (const object of page.objects) {
      const key = object.key.slice(prefix.length);
      if (isDocument(key, object.size)) found.push({ ...object, key });
    }
    if (found.length > limits.sync.filesMax) {
      const message = `${location} has more than ${limits.sync.filesMax} objects`;
      throw new Failure('too_many_sources', message);
    }
    token = page.next;
  } while (token !== undefined);
  return found;
}

/** Folders are empty objects with a slash at the end. */
function isDocument(key: string, size: number): boolean {
  if (key === '' || key.endsWith('/') || size > limits.document.sourceBytesMax) return false;
  return !key.split('/').some(isIgnored);
}

interface BucketPage {
  readonly objects: readonly (Listed & { readonly size: number })[];
  /** Where the next page begins; undefined: there is none. */
  readonly next: string | undefined;
}

async function pageOf(
  bucket: Bucket,
  prefix: string,
  token: string | undefined,
): Promise<BucketPage> {
  const more: Record<string, string> = token === undefined ? {} : { 'continuation-token': token };
  const query = { 'list-type': '2', 'encoding-type': 'url', prefix, ...more };
  const answer = await bucket.send({ method: 'GET', name: '', query });
  if (!answer) throw new Failure('source_missing', `${bucket.name} does not exist`);
  const [root] = childrenOf(readXml(Buffer.from(await bucket.bytesOf(answer)).toString()));
  if (root?.name !== 'ListBucketResult') {
    throw new Failure('bad_response', `${bucket.name} answered with something that is no listing`);
  }
  const text = (element: typeof root, name: string): string => {
    const child = childOf(element, name);
    return child ? textOf(child) : '';
  };
  const isEncoded = text(root, 'EncodingType') === 'url';
  const objects = childrenOf(root, 'Contents').map((element) => {
    const name = text(element, 'Key');
    const key = isEncoded ? decodeURIComponent(name.replaceAll('+', ' ')) : name;
    return { key, stamp: text(element, 'ETag') || null, size: Number(text(element, 'Size')) };
  });
  const next = text(root, 'NextContinuationToken') || undefined;
  if (text(root, 'IsTruncated') !== 'true') return { objects, next: undefined };
  if (next === undefined || next === token) {
    throw new Failure('bad_response', `${bucket.name} does not say where its listing continues`);
  }
  return { objects, next };
}

async function read(
  bucket: Bucket,
  { location }: FollowedPlace,
  key: string,
): Promise<Uint8Array | undefined> {
  const { prefix } = partsOf(location);
  const name = `${prefix}${key}`.split('/').map(encodeURIComponent).join('/');
  const answer = await bucket.send({ method: 'GET', name });
  return answer && bucket.bytesOf(answer);
}
