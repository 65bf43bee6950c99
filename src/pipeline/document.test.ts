import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extractor } from '../../test/support/local-extractor.ts';
import { meteredEmbedder } from '../../test/support/metered-embedder.ts';
import { staticEmbedder } from '../provider/embedding/static-embedder.ts';
import type { Sink } from '../sink/sink.ts';
import { boundPipeline, type DocumentPipelineOptions, documentPipeline } from './document.ts';
import { type Pipeline, rebuilt } from './pipeline.ts';

const none = (): never => assert.fail('no step may run here');
const parts: DocumentPipelineOptions = {
  blobs: { put: none, get: none },
  fetcher: { get: none },
  parser: none,
  embedder: staticEmbedder(),
  extractor,
};
const item = {
  ...{ id: 1, jobId: 1, caller: 'ann', corpus: 'notes', documentId: 'd', attempt: 1 },
  ...{ sourceKind: 'file', source: 'a.md', gate: null, force: false },
  payer: { caller: 'ann', corpus: 'notes' },
};

function ahead({ steps, mayRunAhead }: Pipeline, sourceKind = 'file'): string[] {
  return Object.keys(steps).filter((step) => mayRunAhead?.(step, { ...item, sourceKind }));
}

const free = ['content_extracted', 'chunked', 'embedded', 'entity_extracted', 'persisted'];

test('with local models every step after the fetch may run ahead of its commit', () => {
  assert.deepEqual(ahead(documentPipeline(parts)), [...free, 'indexed', 'done']);
});

test('paid steps wait for the commit', () => {
  const paid = ahead(documentPipeline({ ...parts, embedder: meteredEmbedder() }));
  assert.deepEqual(paid, ['content_extracted', 'chunked', 'entity_extracted', 'persisted', 'done']);
  const asked = { ...extractor, model: 'a model' };
  const entities = ahead(documentPipeline({ ...parts, extractor: asked }));
  assert.equal(entities.includes('entity_extracted'), false);
});

test('steps for sinks, services or re-embedding wait for the commit', () => {
  const sinks = [{ name: 'qdrant' } as Sink];
  const delivered = ahead(documentPipeline({ ...parts, sinks }));
  assert.deepEqual(delivered, free.slice(0, 4));
  assert.deepEqual(ahead(boundPipeline(parts, () => ({}))), []);
  assert.deepEqual(ahead(documentPipeline(parts), 'reembed'), []);
});

test('a replaced or added step may not run ahead', () => {
  const own = async () => ({});
  const pipeline = rebuilt(documentPipeline(parts), (documents) => ({
    ...documents,
    steps: { ...documents.steps, chunked: own, summarized: own },
  }));
  assert.deepEqual(
    ahead(pipeline),
    [...free, 'indexed', 'done'].filter((step) => step !== 'chunked'),
  );
});

test('the author of a pipeline may declare which steps run ahead', () => {
  const mayRunAhead = (step: string): boolean => step === 'done';
  const pipeline = rebuilt(documentPipeline(parts), (documents) => ({ ...documents, mayRunAhead }));
  assert.deepEqual(ahead(pipeline), ['done']);
});
