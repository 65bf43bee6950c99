/** A bucket of a real server, which the test creates: `npm run verify` starts such servers. */
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { realWorld } from '../../../src/app/world.ts';
import { Bucket } from '../../../src/blob/bucket.ts';
import { openBlobBucket } from '../../../src/blob/s3.ts';
import type { BlobCase } from '../../../src/testing/blob-store.ts';
import { credentials } from '../../support/s3-server.ts';
import type { Cleanup } from '../../support/temporary.ts';

export const realBucket = process.env.PAWL_TEST_S3_URL;
/** Where the server keeps objects as files, if it does: then they can be made old. */
const folder = process.env.PAWL_TEST_S3_FOLDER;

export async function openRealBucket(t: Cleanup): Promise<BlobCase> {
  const world = realWorld();
  const bucket = `pawl-${crypto.randomUUID()}`;
  const options = { bucket, endpoint: realBucket, credentials, world };
  const creator = new Bucket(options);
  await (await creator.send({ method: 'PUT', name: '' }))?.body.dump();
  await creator.close();
  const blobs = openBlobBucket({ ...options, prefix: 'blobs' });
  t.after(() => blobs.close());
  if (folder === undefined) return { blobs };
  const fileOf = (key: string) => join(folder, bucket, 'blobs', key.slice(0, 2), key);
  return { blobs, age: (key) => utimesSync(fileOf(key), 1, 1) };
}
