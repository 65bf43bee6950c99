/** Opens the models that the settings name: embedders, and the one that finds entities. */
import { Failure } from '../../kernel/failure/failure.ts';
import { isSameHost, type Origin, originOf } from '../../kernel/name/origin.ts';
import type { World } from '../../kernel/world.ts';
import type { ModelCall } from '../../observe/trace.ts';
import type { Completer } from '../../provider/completion/completion.ts';
import { openaiCompleter } from '../../provider/completion/openai-completion.ts';
import type { Embedder } from '../../provider/embedding/embedding.ts';
import {
  folderOfModel,
  installedFolder,
  knownModels,
} from '../../provider/embedding/model-folder.ts';
import { onnxEmbedder } from '../../provider/embedding/onnx-embedder.ts';
import { openaiEmbedder } from '../../provider/embedding/openai-embedder.ts';
import { withQueryMemory } from '../../provider/embedding/query-memory.ts';
import { staticEmbedder } from '../../provider/embedding/static-embedder.ts';
import { observedCompleter, observedEmbedder } from '../../provider/observed.ts';
import type { Prices } from '../../provider/prices.ts';
import type { BudgetLimits } from '../../provider/rate-limit.ts';

export interface EmbedderSettings {
  /** `local`, `minilm`, `openai:MODEL`, `openai:MODEL@DIMENSIONS` or `onnx:FOLDER`. */
  readonly choice: string;
  /** Where `pawl models` keeps models; `.pawl/models` by default. */
  readonly models?: string | undefined;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly centsPerMillionTokens?: number | undefined;
  readonly budget?: BudgetLimits | undefined;
}

export interface ExtractorOptions {
  readonly model: string;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  /** Cents per million tokens; those of the price table by default. */
  readonly prices?: Prices | undefined;
  readonly budget?: BudgetLimits | undefined;
}

const modelsDefault = '.pawl/models';
export const openaiUrl = 'https://api.openai.com/v1';

export type Embedders = ReturnType<typeof embeddersFor>;

/** The configured embedder, and those of corpora that were started with another model. */
export function embeddersFor(
  settings: EmbedderSettings,
  world: World,
  onCall?: (call: ModelCall) => void,
) {
  const made = new Map<string, Embedder>();
  const choose = (chosen: EmbedderSettings): Embedder => {
    const found = chooseEmbedder(chosen, world);
    return onCall ? observedEmbedder(found, world, onCall) : found;
  };
  const embedder = choose(settings);
  made.set(embedder.model, embedder);
  const otherEmbedder = (model: string, at?: string): Embedder | undefined => {
    const isLocal = model === staticEmbedder().model;
    if (model.startsWith('onnx:')) {
      // Other folders than those of installed models cannot be derived from the name.
      const folder = folderOfModel(settings.models ?? modelsDefault, model);
      const found = made.get(model) ?? (folder && choose({ choice: `onnx:${folder}` }));
      if (found) made.set(model, found);
      return found || undefined;
    }
    const { key, budget } = settings;
    const url = urlOf(settings);
    // Only for the address that computed the corpus: no text is sent to a host nobody configured.
    if (!isLocal && (at === undefined || url === undefined || !isSameHost(at, url)))
      return undefined;
    const choice = isLocal ? 'local' : `openai:${model}`;
    const other = made.get(model) ?? choose({ choice, url, key, budget });
    made.set(model, other);
    return other;
  };
  // The public API needs a key; a self-hosted server may not.
  const reaches = settings.key !== undefined || (settings.url ?? openaiUrl) !== openaiUrl;
  const isConfigured = (model: string): boolean =>
    model === embedder.model || model === staticEmbedder().model || reaches;
  const close = async (): Promise<void> => {
    await Promise.all([...made.values()].map((each) => each.close?.()));
  };
  const remembered = new Map<string, Embedder>();
  const forQuery = (found: Embedder): Embedder => {
    const known = remembered.get(found.model) ?? withQueryMemory(found);
    remembered.set(found.model, known);
    return known;
  };
  const otherForQuery = (model: string, at?: string): Embedder | undefined => {
    const other = otherEmbedder(model, at);
    return other && forQuery(other);
  };
  const forQueries = { embedder: forQuery(embedder), otherEmbedder: otherForQuery };
  const embedderOrigin = (model: string): Origin | undefined => {
    if (model === embedder.model) return embedder.origin;
    const url = urlOf(settings);
    const isHere = model === staticEmbedder().model || model.startsWith('onnx:');
    return isHere || url === undefined ? undefined : originOf(url, settings.url !== undefined);
  };
  return { embedder, otherEmbedder, embedderOrigin, isConfigured, forQueries, close };
}

/** The configured address, or the default one for a model of OpenAI. */
function urlOf({ choice, url }: EmbedderSettings): string | undefined {
  return url ?? (choice.startsWith('openai:') ? openaiUrl : undefined);
}

function chooseEmbedder(settings: EmbedderSettings, world: World): Embedder {
  const { choice, key, centsPerMillionTokens, budget } = settings;
  if (choice === 'local') return staticEmbedder();
  if (Object.hasOwn(knownModels, choice)) {
    return onnxEmbedder({ folder: installedFolder(settings.models ?? modelsDefault, choice) });
  }
  const [, kind, name = ''] = /^(openai|onnx):(.+)$/.exec(choice) ?? [];
  if (kind === 'onnx') return onnxEmbedder({ folder: name });
  if (kind !== 'openai') {
    const forms = 'local, minilm, openai:MODEL or onnx:FOLDER';
    const message = `${JSON.stringify(choice)} is no embedder: ${forms}`;
    throw new Failure('bad_request', message);
  }
  const { url = openaiUrl } = settings;
  const isNamed = settings.url !== undefined;
  if (!isNamed && key === undefined) {
    const message = `${choice} needs a key: set PAWL_EMBEDDER_KEY, or PAWL_EMBEDDER_URL`;
    throw new Failure('usage_error', message);
  }
  const [, model = name, size] = /^(.+)@(\d+)$/.exec(name) ?? [];
  const dimensions = size === undefined ? undefined : Number(size);
  const at = { url, isNamed, key };
  return openaiEmbedder({ ...at, world, model, dimensions, centsPerMillionTokens, budget });
}

export function completerOf(
  { model, url, key, prices, budget }: ExtractorOptions,
  { world, onCall }: { world: World; onCall?: ((call: ModelCall) => void) | undefined },
): Completer {
  if (url === undefined && key === undefined) {
    const message = `${model} needs a key: set PAWL_EXTRACTOR_KEY, or PAWL_EXTRACTOR_URL`;
    throw new Failure('usage_error', message);
  }
  const at = { url: url ?? openaiUrl, isNamed: url !== undefined, key };
  const completer = openaiCompleter({ ...at, model, prices, budget, world });
  return onCall ? observedCompleter(completer, world, onCall) : completer;
}
