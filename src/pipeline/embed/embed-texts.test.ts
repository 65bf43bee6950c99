import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../kernel/limits/limits.ts';
import type { Embedder } from '../../provider/embedding/embedding.ts';
import type { StepContext } from '../pipeline.ts';
import { embedTexts } from './embed-texts.ts';

test('the chunks of a document are sent in batches, and their vectors keep the order', async () => {
  const { embeddingBatchMax } = limits.budget;
  const count = 2 * embeddingBatchMax + 1;
  const inputs = Array.from({ length: count }, (_, index) => ({ text: `${index}`, tokens: 1 }));
  const batches: number[] = [];
  const embedder = {
    model: 'm',
    embed: async (texts: readonly string[]) => {
      batches.push(texts.length);
      const vectors = texts.map((text) => Buffer.from(text));
      return { vectors, tokensIn: texts.length, costCents: 0 };
    },
  } as unknown as Embedder;
  const told: number[] = [];
  const context = {
    signal: new AbortController().signal,
    progress: (done: number) => told.push(done),
  } as unknown as StepContext;
  const { vectors, tokensIn } = await embedTexts(context, inputs, {
    embedder,
    paidAnswers: undefined,
  });
  assert.deepEqual(batches, [embeddingBatchMax, embeddingBatchMax, 1]);
  assert.deepEqual(
    vectors.map((vector) => Buffer.from(vector).toString()),
    inputs.map(({ text }) => text),
  );
  assert.deepEqual([told, tokensIn], [[embeddingBatchMax, 2 * embeddingBatchMax, count], count]);
});
