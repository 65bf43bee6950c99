/** The work that the batch lane can leave to a provider of this process, or of another one. */
import type { BatchProviders } from '../../engine/batch/plan.ts';
import type { Origin } from '../../kernel/name/origin.ts';
import type { World } from '../../kernel/world.ts';
import type { DocumentLane } from '../../pipeline/document.ts';
import type { LaneModel } from '../../pipeline/lane/deferred.ts';
import type { RecordingLane } from '../../pipeline/lane/recording.ts';
import { toSignedBytes } from '../../provider/embedding/vector-bytes.ts';
import { lanePriceOf, type Prices } from '../../provider/prices.ts';
import { isModelServed } from '../../store/batch/presence.ts';
import type { PawlOptions } from '../options.ts';
import type { Tools } from '../tools.ts';
import { embedderSettings, extractorSettings } from './models.ts';

interface LaneParts {
  readonly providers: BatchProviders;
  readonly tools: Pick<Tools, 'embedders' | 'completer'>;
  readonly world: World;
}

export function batchLane(
  options: Pick<PawlOptions, 'embedder' | 'extractor'>,
  parts: LaneParts,
): DocumentLane {
  return {
    entities: entityLane(options, parts),
    recordings: recordingLane(parts.providers),
    embeddings: embeddingLane(options, parts),
  };
}

function entityLane(
  { extractor }: Pick<PawlOptions, 'extractor'>,
  parts: LaneParts,
): LaneModel | undefined {
  const settings = extractorSettings(extractor);
  if (!settings) return undefined;
  const { model, prices } = settings;
  const { completer } = parts.tools;
  return laneModel({ model, taskType: 'completion', prices, origin: completer?.origin }, parts);
}

/** A model that is asked for fewer dimensions than it has (`MODEL@DIMENSIONS`) has no batch. */
function embeddingLane(
  { embedder }: Pick<PawlOptions, 'embedder'>,
  parts: LaneParts,
): DocumentLane['embeddings'] {
  const settings = embedderSettings(embedder);
  const [, model] = /^openai:([^@]+)$/.exec(settings?.choice ?? '') ?? [];
  if (model === undefined) return undefined;
  const { model: storedModel, origin } = parts.tools.embedders.embedder;
  const prices = { input: settings?.centsPerMillionTokens };
  const lane = laneModel({ model, taskType: 'embedding', prices, origin }, parts);
  return { ...lane, storedModel, encode: toSignedBytes };
}

function recordingLane(providers: BatchProviders): RecordingLane | undefined {
  if (!providers.hasTranscriber) return undefined;
  return {
    transcriberOf: (address) => providers.transcriberOf(address),
    urlOf: (name) => providers.urlOf(name),
    hourPriceOf: (name) => providers.hourPriceOf(name),
  };
}

interface WantedModel {
  readonly model: string;
  readonly taskType: string;
  readonly prices: Partial<Prices> | undefined;
  readonly origin: Origin | undefined;
}

/** A model without a provider here may be served by another process on the same store. */
function laneModel(
  { model, taskType, prices, origin }: WantedModel,
  { providers, world }: LaneParts,
): LaneModel {
  const isServed: LaneModel['isServed'] = providers.has(model, taskType, origin?.url)
    ? undefined
    : (reader) => isModelServed(reader, { model, taskType, now: world.now() });
  return { model, price: lanePriceOf(model, prices), origin, isServed };
}
