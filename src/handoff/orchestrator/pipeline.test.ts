import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DocumentPipelineOptions, documentPipeline } from '../../pipeline/document.ts';
import type { Pipeline, StepContext, StepTools } from '../../pipeline/pipeline.ts';
import { staticEmbedder } from '../../provider/embedding/static-embedder.ts';
import type { HandoffBroker } from './broker.ts';
import { handoffPipeline } from './pipeline.ts';

const none = (): never => assert.fail('nothing is run here');
const embedder = staticEmbedder();

function withServices(documents: Pipeline): Pipeline {
  const broker = {} as HandoffBroker;
  return handoffPipeline({ documents, broker, embedder, parser: none, isHere: () => true });
}

function contextOf(id: number): StepContext {
  const payer = { caller: 'ann', corpus: 'notes' };
  const item = {
    id,
    jobId: 1,
    ...payer,
    payer,
    documentId: `d${id}`,
    sourceKind: 'reembed',
    source: `${id}.md`,
    gate: null,
    force: false,
    attempt: 1,
  };
  const reader = {} as StepContext['reader'];
  const world = {} as StepContext['world'];
  const { signal } = new AbortController();
  return { item, reader, world, signal, scratch: new Map(), progress: none };
}

test('with services the pipeline is built once for many items', async () => {
  let reads = 0;
  const options: DocumentPipelineOptions = {
    blobs: { put: none, get: none },
    fetcher: { get: none },
    parser: none,
    embedder,
    // Every build reads its options.
    get sinks() {
      reads += 1;
      return [];
    },
  };
  const pipeline = withServices(documentPipeline(options));
  const readsOfOneBuild = reads;
  assert.ok(readsOfOneBuild > 0);
  // A re-embedding item has nothing to do in these steps, so nothing is asked of a service.
  for (const id of [1, 2, 3]) {
    for (const step of ['fetched', 'content_extracted', 'indexed', 'done']) {
      assert.equal(await pipeline.steps[step]?.(contextOf(id)), undefined);
    }
  }
  assert.equal(reads, readsOfOneBuild);
});

test('with services every run of a step gets its own tools, and no step runs ahead', async () => {
  const given: (StepTools | undefined)[] = [];
  const steps = {
    embedded: async ({ tools }: StepContext) => {
      given.push(tools);
      return {};
    },
  };
  const local: Pipeline = {
    ...documentPipeline({
      blobs: { put: none, get: none },
      fetcher: { get: none },
      parser: none,
      embedder,
    }),
    steps,
  };
  const pipeline = withServices(local);
  for (const id of [1, 2]) await pipeline.steps.embedded?.(contextOf(id));
  const names = ['embedder', 'extractor', 'fetcher', 'otherEmbedder', 'parser', 'visitor'];
  assert.deepEqual(
    given.map((tools) => Object.keys(tools ?? {}).sort()),
    [names, names],
  );
  assert.notEqual(given[0]?.embedder, given[1]?.embedder);
  assert.equal(given[0]?.embedder?.model, embedder.model);
  assert.equal(pipeline.mayRunAhead, undefined);
});
