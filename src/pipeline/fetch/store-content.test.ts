import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { BlobStore } from '../../blob/blob.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { unpack } from '../../store/driver/packing.ts';
import { storeContent } from './store-content.ts';

function blobStore(): { readonly blobs: BlobStore; readonly kept: Uint8Array[] } {
  const kept: Uint8Array[] = [];
  const put = async (bytes: Uint8Array) => `blob ${kept.push(bytes)}`;
  return { kept, blobs: { put, get: async () => new Uint8Array() } };
}

function keyOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

test('small content is stored in the row, under the key it would have as a blob', async () => {
  const { blobs, kept } = blobStore();
  const bytes = randomBytes(limits.document.rowBytesMax);
  const row = await storeContent({ bytes, mediaType: 'application/pdf' }, blobs);
  const about = { blob_key: keyOf(bytes), bytes: bytes.length, media_type: 'application/pdf' };
  assert.deepEqual(row, { ...about, body: bytes, packed: null });
  assert.deepEqual(kept, []);
});

test('content that is small when packed is stored in the row, too', async () => {
  const { blobs, kept } = blobStore();
  const bytes = Buffer.from('<p>The walrus sleeps.</p>\n'.repeat(10_000));
  assert.ok(bytes.length > limits.document.rowBytesMax);
  const { packed, ...row } = await storeContent({ bytes, mediaType: 'text/html' }, blobs);
  const about = { blob_key: keyOf(bytes), bytes: bytes.length, media_type: 'text/html' };
  assert.deepEqual(row, { ...about, body: null });
  assert.deepEqual(Buffer.from(unpack(packed ?? new Uint8Array())), bytes);
  assert.deepEqual(kept, []);
});

test('larger content and recordings are stored as a blob', async () => {
  const { blobs, kept } = blobStore();
  const large = randomBytes(limits.document.rowBytesMax + 1);
  const page = await storeContent({ bytes: large, mediaType: 'application/pdf' }, blobs);
  const sound = await storeContent({ bytes: new Uint8Array(3), mediaType: 'audio/mpeg' }, blobs);
  assert.deepEqual([page.blob_key, page.body, page.packed], ['blob 1', null, null]);
  assert.deepEqual([sound.blob_key, sound.body, sound.packed], ['blob 2', null, null]);
  assert.equal(kept[0], large);
});
