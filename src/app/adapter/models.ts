/** Opens the models that the settings name: embedders, and the one that finds entities. */
import { Failure } from '../../kernel/failure/failure.ts';
import { embedderVendors } from '../../kernel/name/embedder-vendor.ts';
import { isSameHost, type Origin, originOf } from '../../kernel/name/origin.ts';
import type { World } from '../../kernel/world.ts';
import type { ModelCall } from '../../observe/trace.ts';
import { checkEmbedder, type EmbedderPort, pluggedEmbedder } from '../../port/embedder.ts';
import { checkEntityExtractor, type EntityExtractorPort } from '../../port/entity-extractor.ts';
import { type ChatModel, openaiChat } from '../../provider/chat/chat-stream.ts';
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
import { type ChosenPreset, presetOf, presetUrl } from '../../provider/embedding/preset/preset.ts';
import { withQueryMemory } from '../../provider/embedding/query-memory.ts';
import { staticEmbedder } from '../../provider/embedding/static-embedder.ts';
import { observedCompleter, observedEmbedder } from '../../provider/observed.ts';
import type { Prices } from '../../provider/prices.ts';
import type { BudgetLimits } from '../../provider/rate-limit.ts';

export interface EmbedderSettings {
  /**
   * `local`, `minilm`, `onnx:FOLDER`, or `VENDOR:MODEL` with `openai` or a preset; with
   * `@DIMENSIONS`.
   */
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

/** Like those of an extractor. */
export type AnswererOptions = ExtractorOptions;

const vendors = embedderVendors.map((name) => `${name}:MODEL`).join(', ');
const embedderForms = `local, minilm, openai:MODEL, ${vendors} or onnx:FOLDER`;

const modelsDefault = '.pawl/models';
export const openaiUrl = 'https://api.openai.com/v1';

export type Embedders = ReturnType<typeof embeddersFor>;

/** Settings have a `choice`; anything else must be an embedder of the user's own. */
export function embedderSettings(
  given: EmbedderSettings | EmbedderPort | undefined,
): EmbedderSettings | undefined {
  return given !== undefined && 'choice' in Object(given) ? (given as EmbedderSettings) : undefined;
}

/** Settings have a `model`; anything else must be an extractor of the user's own. */
export function extractorSettings(
  given: ExtractorOptions | EntityExtractorPort | undefined,
): ExtractorOptions | undefined {
  return given !== undefined && 'model' in Object(given) ? (given as ExtractorOptions) : undefined;
}

export function ownExtractor(
  given: ExtractorOptions | EntityExtractorPort | undefined,
): EntityExtractorPort | undefined {
  if (given === undefined || extractorSettings(given)) return undefined;
  return checkEntityExtractor(given);
}

/** The configured embedder, and those of corpora that were started with another model. */
export function embeddersFor(
  given: EmbedderSettings | EmbedderPort,
  world: World,
  onCall?: (call: ModelCall) => void,
) {
  const made = new Map<string, Embedder>();
  const settings = embedderSettings(given) ?? { choice: 'local' };
  const watched = (found: Embedder): Embedder =>
    onCall ? observedEmbedder(found, world, onCall) : found;
  const choose = (chosen: EmbedderSettings): Embedder => watched(chooseEmbedder(chosen, world));
  const embedder = settings === given ? choose(settings) : watched(ownEmbedder(given, world));
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
    const choice = isLocal ? 'local' : presetOf(model) ? model : `openai:${model}`;
    const other = made.get(model) ?? choose({ choice, url, key, budget });
    made.set(model, other);
    return other;
  };
  // The public API needs a key; a self-hosted server may not.
  const isPreset = presetOf(settings.choice) !== undefined;
  const reaches =
    isPreset || settings.key !== undefined || (settings.url ?? openaiUrl) !== openaiUrl;
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
  const chosen = presetOf(choice);
  if (chosen) return presetUrl(chosen, url);
  return url ?? (choice.startsWith('openai:') ? openaiUrl : undefined);
}

function ownEmbedder(given: unknown, world: World): Embedder {
  const port = checkEmbedder(given);
  const { model } = port;
  if (model === staticEmbedder().model || model.startsWith('onnx:')) {
    const message = `open({ embedder }): ${model} is the name of a model of Pawl: choose another`;
    throw new Failure('usage_error', message);
  }
  return pluggedEmbedder(port, world);
}

function chooseEmbedder(settings: EmbedderSettings, world: World): Embedder {
  const { choice, key, centsPerMillionTokens, budget } = settings;
  if (choice === 'local') return staticEmbedder();
  if (Object.hasOwn(knownModels, choice)) {
    return onnxEmbedder({ folder: installedFolder(settings.models ?? modelsDefault, choice) });
  }
  const chosen = presetOf(choice);
  if (chosen) return presetEmbedder(chosen, settings, world);
  const [, kind, name = ''] = /^(openai|onnx):(.+)$/.exec(choice) ?? [];
  if (kind === 'onnx') return onnxEmbedder({ folder: name });
  if (kind !== 'openai') {
    const message = `${JSON.stringify(choice)} is no embedder: ${embedderForms}`;
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

/** A vendor needs a key; a server of one's own may need none. */
function presetEmbedder(chosen: ChosenPreset, settings: EmbedderSettings, world: World): Embedder {
  const { model, dimensions, preset } = chosen;
  const { centsPerMillionTokens, budget } = settings;
  const { keyVariable } = preset;
  const key = settings.key ?? (keyVariable === undefined ? undefined : process.env[keyVariable]);
  const url = presetUrl(chosen, settings.url);
  if (key === undefined && keyVariable !== undefined && settings.url === undefined) {
    const message = `${settings.choice} needs a key: set PAWL_EMBEDDER_KEY or ${keyVariable}`;
    throw new Failure('usage_error', message);
  }
  const at = { url, isNamed: settings.url !== undefined, key, preset: chosen };
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

export function answererChat(
  { model, url, key, prices, budget }: AnswererOptions,
  world: World,
): ChatModel {
  if (url === undefined && key === undefined) {
    const message = `${model} needs a key: set PAWL_ANSWERER_KEY, or PAWL_ANSWERER_URL`;
    throw new Failure('usage_error', message);
  }
  const at = { url: url ?? openaiUrl, isNamed: url !== undefined, key };
  return openaiChat({ ...at, model, prices, budget, world });
}
