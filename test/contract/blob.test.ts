import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { openBlobDirectory } from '../../src/blob/directory.ts';
import { openBlobBucket } from '../../src/blob/s3.ts';
import { blobConformance } from '../../src/testing/index.ts';
import { bucket, credentials, type S3Server, startS3 } from '../support/s3-server.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { openRealBucket, realBucket } from './blob/real-bucket.ts';

const prefix = 'pawl/blobs';
const folderOf = (key: string): string => `${key.slice(0, 2)}/${key}`;

function openBucket(t: Cleanup, { endpoint }: S3Server, more = {}) {
  const world = realWorld();
  const blobs = openBlobBucket({ bucket, prefix, endpoint, credentials, world, ...more });
  t.after(() => blobs.close());
  return blobs;
}

blobConformance('a folder', async (t) => {
  const directory = temporaryDirectory(t);
  return {
    blobs: openBlobDirectory(directory, realWorld()),
    age: (key) => utimesSync(join(directory, folderOf(key)), 1, 1),
  };
});

blobConformance('a bucket', async (t) => {
  const server = await startS3(t);
  return {
    blobs: openBucket(t, server),
    age: (key) => {
      server.objects.getObject(bucket, `${prefix}/${folderOf(key)}`).lastModified = new Date(1000);
    },
  };
});

if (realBucket !== undefined) blobConformance('a real bucket', (t) => openRealBucket(t));

describe('a bucket', () => {
  async function setup(t: TestContext, more = {}) {
    const server = await startS3(t);
    const names = () => server.objects.listObjects(bucket).objects.map(({ key }) => key);
    return { server, names, blobs: openBucket(t, server, more) };
  }
  const text = Buffer.from('walrus');

  test('retries while its server fails, also if the server carried out the call', async (t) => {
    const { server, blobs } = await setup(t);
    server.troubles.push({ on: /^PUT/, status: 500, times: 1 });
    server.troubles.push({ on: /^PUT/, status: 503, times: 1, isAfter: true });
    server.troubles.push({ on: /^GET/, status: 502, times: 2 });
    const key = await blobs.put(text);
    assert.equal(server.calls.filter((call) => call.startsWith('PUT')).length, 3);
    assert.deepEqual(Buffer.from(await blobs.get(key)), text);
  });

  test('that stays away is a retryable failure', async (t) => {
    const { server, blobs } = await setup(t);
    server.troubles.push({ on: /^PUT/, status: 503, times: 100 });
    await assert.rejects(blobs.put(text), { code: 'provider_unavailable' });
    await assert.rejects(blobs.putStream([text] as never), { code: 'provider_unavailable' });
  });

  const wrong = { ...credentials, secretAccessKey: 'something-else' };
  test('that refuses the key, or does not exist, is a failure with advice', async (t) => {
    const { blobs } = await setup(t, { credentials: wrong });
    await assert.rejects(blobs.put(text), { code: 'provider_auth' });
    const { blobs: none } = await setup(t, { bucket: 'another' });
    await assert.rejects(none.put(text), { code: 'provider_bad_request' });
    await assert.rejects(none.check(), { code: 'provider_bad_request' });
  });

  test('is not sent what it has, unless that is old', async (t) => {
    const { server, blobs, names } = await setup(t);
    const key = await blobs.put(text);
    await blobs.put(text);
    const puts = () => server.calls.filter((call) => call.startsWith('PUT')).length;
    assert.equal(puts(), 1);
    server.objects.getObject(bucket, `${prefix}/${folderOf(key)}`).lastModified = new Date(1000);
    await blobs.put(text);
    assert.equal(puts(), 2);
    assert.deepEqual(names(), [`${prefix}/${folderOf(key)}`]);
    assert.match(await blobs.check(), /^S3, the bucket archive at 127\.0\.0\.1:\d+$/);
  });

  test('that returns other bytes than were put is not trusted', async (t) => {
    const { server, blobs } = await setup(t);
    const key = await blobs.put(text);
    server.objects.putObject(bucket, `${prefix}/${folderOf(key)}`, Buffer.from('forged'));
    await assert.rejects(blobs.get(key), { code: 'provider_unavailable' });
  });

  test('loses nothing in use if a sweep is interrupted after its copy', async (t) => {
    const { server, blobs, names } = await setup(t);
    const key = await blobs.put(text);
    const object = `${prefix}/${folderOf(key)}`;
    server.objects.getObject(bucket, object).lastModified = new Date(1000);
    const part = Number.parseInt(key.slice(0, 2), 16);
    const before = Date.now() - 60_000;
    const sweep = (isUsed: boolean, at = before) =>
      blobs.sweep({
        ...{ part, before: at, limit: 10 },
        used: async () => new Set(isUsed ? [key] : []),
      });
    server.troubles.push({ on: /^DELETE/, status: 403, times: 1 });
    await assert.rejects(sweep(false), { code: 'provider_auth' });
    assert.deepEqual(names(), [object, `${object}.swept`]);
    await sweep(false);
    assert.deepEqual(names(), [`${object}.swept`]);
    await sweep(true, Date.now() + 60_000);
    assert.deepEqual(names(), [object]);
    assert.deepEqual(Buffer.from(await blobs.get(key)), text);
  });
});
