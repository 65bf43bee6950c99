/** `pawl/testing`: conformance suites for parts of your own, on `node:test`. */
export { type BatchProviderCase, batchProviderConformance } from './batch-provider.ts';
export { type BlobCase, blobConformance } from './blob-store.ts';
export type { Cleanup } from './conformance.ts';
export { embedderConformance } from './embedder.ts';
export { type ExtractorCase, entityExtractorConformance } from './entity-extractor.ts';
export { rerankerConformance } from './reranker.ts';
export { type SinkCase, sinkConformance } from './sink.ts';
export { type SourceCase, sourceConformance } from './source.ts';
export { type StepCase, stepConformance } from './step.ts';
