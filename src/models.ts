/** Which models compute, by their settings: those that embed, and the one that finds entities. */
import { Failure } from './kernel/failure.ts';
import type { World } from './kernel/world.ts';
import type { ModelCall } from './observe/trace.ts';
import type { BudgetLimits } from './provider/budget.ts';
import type { Completer } from './provider/completion.ts';
import type { Embedder } from './provider/embedding.ts';
import { observedCompleter } from './provider/observed-completer.ts';
import { observed } from './provider/observed-embedder.ts';
import { onnxEmbedder } from './provider/onnx-embedder.ts';
import { openaiCompleter } from './provider/openai-completion.ts';
import { openaiEmbedder } from './provider/openai-embedder.ts';
import type { Prices } from './provider/prices.ts';
import { withQueryMemory } from './provider/query-memory.ts';
import { staticEmbedder } from './provider/static-embedder.ts';

export interface EmbedderSettings {
  /** `local`, `openai:MODEL`, `openai:MODEL@DIMENSIONS` or `onnx:FOLDER`. */
  readonly choice: string;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly centsPerMillionTokens?: number | undefined;
  readonly budget?: BudgetLimits | undefined;
}

export interface ExtractorOptions {
  readonly model: string;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  /** In cents for a million tokens; those of the table where absent. */
  readonly prices?: Prices | undefined;
  readonly budget?: BudgetLimits | undefined;
}

export const openaiUrl = 'https://api.openai.com/v1';

/** The embedder that is configured, and those of corpora that were begun with another model. */
export function embeddersFor(
  settings: EmbedderSettings,
  world: World,
  onCall?: (call: ModelCall) => void,
) {
  const made = new Map<string, Embedder>();
  const choose = (chosen: EmbedderSettings): Embedder => {
    const found = chooseEmbedder(chosen, world);
    return onCall ? observed(found, world, onCall) : found;
  };
  const embedder = choose(settings);
  made.set(embedder.model, embedder);
  const otherEmbedder = (model: string): Embedder | undefined => {
    const choice = model === staticEmbedder().model ? 'local' : `openai:${model}`;
    // A folder cannot be found by the name of its model.
    if (model.startsWith('onnx:')) return made.get(model);
    const { url, key, budget } = settings;
    const other = made.get(model) ?? choose({ choice, url, key, budget });
    made.set(model, other);
    return other;
  };
  const close = async (): Promise<void> => {
    await Promise.all([...made.values()].map((each) => each.close?.()));
  };
  const remembered = new Map<string, Embedder>();
  const forQuery = (found: Embedder): Embedder => {
    const known = remembered.get(found.model) ?? withQueryMemory(found);
    remembered.set(found.model, known);
    return known;
  };
  const otherForQuery = (model: string): Embedder | undefined => {
    const other = otherEmbedder(model);
    return other && forQuery(other);
  };
  const forQueries = { embedder: forQuery(embedder), otherEmbedder: otherForQuery };
  return { embedder, otherEmbedder, forQueries, close };
}

function chooseEmbedder(settings: EmbedderSettings, world: World): Embedder {
  const { choice, url = openaiUrl, key, centsPerMillionTokens, budget } = settings;
  if (choice === 'local') return staticEmbedder();
  const [, kind, name = ''] = /^(openai|onnx):(.+)$/.exec(choice) ?? [];
  if (kind === 'onnx') return onnxEmbedder({ folder: name });
  if (kind !== 'openai') {
    const message = `${JSON.stringify(choice)} is no embedder: local, openai:MODEL or onnx:FOLDER`;
    throw new Failure('bad_request', message);
  }
  const [, model = name, size] = /^(.+)@(\d+)$/.exec(name) ?? [];
  const dimensions = size === undefined ? undefined : Number(size);
  return openaiEmbedder({ world, model, dimensions, url, key, centsPerMillionTokens, budget });
}

export function completerOf(
  { model, url, key, prices, budget }: ExtractorOptions,
  { world, onCall }: { world: World; onCall?: ((call: ModelCall) => void) | undefined },
): Completer {
  if (url === undefined && key === undefined) {
    const message = `${model} needs a key: set PAWL_EXTRACTOR_KEY, or PAWL_EXTRACTOR_URL`;
    throw new Failure('usage_error', message);
  }
  const at = { url: url ?? openaiUrl, key };
  const completer = openaiCompleter({ ...at, model, prices, budget, world });
  return onCall ? observedCompleter(completer, world, onCall) : completer;
}
