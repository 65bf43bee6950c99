import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Embedder } from './embedding.ts';
import { probeModel } from './model-probe.ts';
import { staticEmbedder } from './static-embedder.ts';
import { toSignedBytes } from './vector-bytes.ts';

const { signal } = new AbortController();

test('a model that finds related sentences nearer passes the probe', async () => {
  const probed = await probeModel(staticEmbedder(), signal);
  assert.equal(probed.dimensions, 256);
  assert.ok(probed.related > probed.unrelated);
});

test('a model that finds unrelated sentences nearer fails the probe', async () => {
  const vectors = [
    [1, 0],
    [0, 1],
    [1, 0.1],
  ].map(toSignedBytes);
  const embedder: Embedder = {
    model: 'wrong',
    embed: async () => ({ vectors, tokensIn: 0, costCents: 0 }),
  };
  await assert.rejects(probeModel(embedder, signal), /wrong finds unrelated sentences nearer/);
});
