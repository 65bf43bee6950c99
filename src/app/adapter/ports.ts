/** Checks the parts that a program plugs in, before anything is opened that would stay open. */
import { item } from '../../kernel/lifecycle/item.ts';
import { checkBlobStore } from '../../port/blob-store.ts';
import { checkEmbedder } from '../../port/embedder.ts';
import { checkReranker } from '../../port/reranker.ts';
import { checkSinks } from '../../port/sink.ts';
import { checkSteps } from '../../port/step-check.ts';
import { placedSteps } from '../../port/step-pipeline.ts';
import type { AssembleOptions } from '../options.ts';
import { embedderSettings, ownExtractor } from './models.ts';
import { rerankerSettings } from './reranker.ts';

export function checkPorts(options: AssembleOptions): void {
  const { embedder, extractor, reranker, blobs, sinkAdapters, steps, pipeline } = options;
  if (embedder !== undefined && !embedderSettings(embedder)) checkEmbedder(embedder);
  if (blobs !== undefined && !('url' in Object(blobs))) checkBlobStore(blobs);
  if (reranker !== undefined && !rerankerSettings(reranker)) checkReranker(reranker);
  if (sinkAdapters !== undefined) checkSinks(sinkAdapters);
  ownExtractor(extractor);
  // A changed pipeline has a table of steps of its own.
  if (steps !== undefined && !pipeline) placedSteps(item.steps, checkSteps(steps, item.steps));
}
