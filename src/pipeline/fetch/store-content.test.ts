import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { BlobStore } from '../../blob/blob.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { storeContent } from './store-content.ts';

function blobStore(): { readonly blobs: BlobStore; readonly kept: Uint8Array[] } {
  const kept: Uint8Array[] = [];
  const put = async (bytes: Uint8Array) => `blob ${kept.push(bytes)}`;
  return { kept, blobs: { put, get: async () => new Uint8Array() } };
}

test('small content is stored in the row, under the key it would have as a blob', async () => {
  const { blobs, kept } = blobStore();
  const bytes = new Uint8Array(limits.document.rowBytesMax).fill(7);
  const row = await storeContent({ bytes, mediaType: 'text/html' }, blobs);
  const key = createHash('sha256').update(bytes).digest('hex');
  const about = { blob_key: key, bytes: bytes.length, media_type: 'text/html' };
  assert.deepEqual(row, { ...about, body: bytes });
  assert.deepEqual(kept, []);
});

test('larger content and recordings are stored as a blob', async () => {
  const { blobs, kept } = blobStore();
  const large = new Uint8Array(limits.document.rowBytesMax + 1);
  const page = await storeContent({ bytes: large, mediaType: 'text/html' }, blobs);
  const sound = await storeContent({ bytes: new Uint8Array(3), mediaType: 'audio/mpeg' }, blobs);
  assert.deepEqual([page.blob_key, page.body], ['blob 1', null]);
  assert.deepEqual([sound.blob_key, sound.body], ['blob 2', null]);
  assert.equal(kept[0], large);
});
