/** Opens the blob store that the settings name. */
import { join, resolve } from 'node:path';
import type { StreamedBlobStore, SweptBlobs } from '../../blob/blob.ts';
import { openBlobDirectory } from '../../blob/directory.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import type { World } from '../../kernel/world.ts';
import { type BlobStorePort, checkBlobStore, pluggedBlobs } from '../../port/blob-store.ts';

export interface BlobSettings {
  /** `file:FOLDER`, `s3://BUCKET` or `s3://BUCKET/PREFIX`. */
  readonly url: string;
  /** The server of the bucket, if it is not Amazon S3. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly keyId?: string | undefined;
  readonly secret?: string | undefined;
  readonly session?: string | undefined;
}

export type OpenBlobs = StreamedBlobStore & SweptBlobs & { close(): Promise<void> };

export async function openBlobs(
  given: BlobSettings | BlobStorePort | undefined,
  { data, world }: { readonly data: string; readonly world: World },
): Promise<OpenBlobs> {
  if (given !== undefined && !('url' in Object(given))) return pluggedBlobs(checkBlobStore(given));
  const settings = given as BlobSettings | undefined;
  const folder = settings ? /^file:(?:\/\/(?=\/))?(.+)$/.exec(settings.url)?.[1] : undefined;
  if (!settings || folder !== undefined) {
    const directory = folder === undefined ? join(resolve(data), 'blobs') : resolve(folder);
    return { ...openBlobDirectory(directory, world), close: async () => undefined };
  }
  return openBucket(settings, world);
}

async function openBucket(settings: BlobSettings, world: World): Promise<OpenBlobs> {
  const { url, endpoint, region = 'us-east-1', keyId, secret, session: sessionToken } = settings;
  const [, bucket, prefix] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(url) ?? [];
  if (bucket === undefined) {
    throw new Failure('usage_error', 'the blob store must be file:FOLDER or s3://BUCKET/PREFIX');
  }
  if (keyId === undefined || secret === undefined) {
    const message = `${url} needs a key: set PAWL_BLOB_KEY_ID and PAWL_BLOB_SECRET`;
    throw new Failure('usage_error', message);
  }
  const { openBlobBucket } = await import('../../blob/s3.ts');
  const credentials = { accessKeyId: keyId, secretAccessKey: secret, sessionToken, region };
  return openBlobBucket({ bucket, prefix, endpoint, credentials, world });
}
