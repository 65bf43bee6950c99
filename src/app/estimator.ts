/** Estimates what an ingestion would cost. Nothing is paid, and nothing is stored. */
import type { BlobStore } from '../blob/blob.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { placeOf } from '../kernel/name/corpus-name.ts';
import { embedUse } from '../kernel/name/origin.ts';
import type { World } from '../kernel/world.ts';
import { type DocumentPipelineOptions, documentPipeline } from '../pipeline/document.ts';
import {
  type Estimate,
  type EstimateInput,
  estimateIngestion,
} from '../pipeline/estimate/estimate.ts';
import { getOrigin } from '../store/corpus/origins.ts';
import { getCorpusSettings } from '../store/corpus/settings.ts';
import type { Database } from '../store/driver/database.ts';
import { embedderSettings, extractorSettings } from './adapter/models.ts';
import type { PawlOptions } from './options.ts';

export type Estimator = (input: EstimateInput) => Promise<Estimate>;

interface EstimatorParts {
  readonly steps: DocumentPipelineOptions;
  readonly database: Database;
  readonly world: World;
}

export function estimator(
  { embedder: embedding, extractor: extraction }: PawlOptions,
  { steps, database, world }: EstimatorParts,
): Estimator {
  const { embedder, otherEmbedder, extractor } = steps;
  return async (input) => {
    const place = placeOf(input);
    const { model } = await getCorpusSettings(database, place);
    const use = model === null ? undefined : embedUse(model);
    const url = use && (await getOrigin(database, { ...place, use }));
    return estimateIngestion(
      {
        // Built here: most processes never estimate.
        pipeline: documentPipeline({ ...steps, sinks: [], blobs: nowhere }),
        reader: database,
        world,
        embedder: (model !== null && otherEmbedder?.(model, url)) || embedder,
        extractor,
        tokensPerMinute: {
          embedder: (embedderSettings(embedding)?.budget ?? limits.budget).tokensPerMinute,
          extractor: (extractorSettings(extraction)?.budget ?? limits.completion).tokensPerMinute,
        },
      },
      input,
    );
  };
}

/** An estimate stores no bytes. */
const nowhere: BlobStore = {
  put: async () => 'nowhere',
  get: () => Promise.reject(new Failure('source_missing', 'an estimate stores no bytes')),
};
