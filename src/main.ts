/** The composition root: the only file that names adapters. */
import { join, resolve } from 'node:path';
import type { BlobStore } from './blob/blob.ts';
import { openBlobDirectory } from './blob/directory.ts';
import { Engine } from './engine/engine.ts';
import { thisProcess } from './engine/liveness.ts';
import { Failure } from './kernel/failure.ts';
import { limits } from './kernel/limits.ts';
import type { World } from './kernel/world.ts';
import { documentPipeline } from './pipeline/document.ts';
import { type Estimate, type EstimateInput, estimateIngestion } from './pipeline/estimate.ts';
import { allowedHosts } from './pipeline/fetch/address.ts';
import { httpFetcher } from './pipeline/fetch/http.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import { Purse } from './pipeline/purse.ts';
import type { BudgetLimits } from './provider/budget.ts';
import type { Embedder } from './provider/embedding.ts';
import { onnxEmbedder } from './provider/onnx-embedder.ts';
import { openaiEmbedder } from './provider/openai-embedder.ts';
import { withQueryMemory } from './provider/query-memory.ts';
import { staticEmbedder } from './provider/static-embedder.ts';
import { Searcher } from './search/search.ts';
import { getCorpusSettings } from './store/corpus-settings.ts';
import type { Database } from './store/database.ts';
import { migrate } from './store/migrate.ts';
import { openPostgres } from './store/postgres.ts';
import { openSqlite } from './store/sqlite.ts';
import { realWorld } from './world.ts';

export interface EmbedderSettings {
  /** `local`, `openai:MODEL`, `openai:MODEL@DIMENSIONS` or `onnx:FOLDER`. */
  readonly choice: string;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly centsPerMillionTokens?: number | undefined;
  readonly budget?: BudgetLimits | undefined;
}

export interface AssembleOptions {
  readonly data: string;
  /** Postgres; the embedded store where absent. */
  readonly databaseUrl?: string | undefined;
  readonly places?: number | undefined;
  /** Exact `host:port` pairs that may be fetched from although they are not public. */
  readonly allowHosts?: readonly string[] | undefined;
  /** What turns text into vectors; the local one where nothing is said. */
  readonly embedder?: EmbedderSettings | undefined;
  readonly world?: World | undefined;
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
  /** Builds another pipeline than that of documents: the way to add a step. */
  readonly pipeline?: ((documents: Pipeline) => Pipeline) | undefined;
}

export interface Assembled {
  readonly database: Database;
  readonly engine: Engine;
  readonly searcher: Searcher;
  /** The one that is configured. */
  readonly embedder: Embedder;
  estimate(input: EstimateInput): Promise<Estimate>;
  close(): Promise<void>;
}

export async function assemble(options: AssembleOptions): Promise<Assembled> {
  const world = options.world ?? realWorld();
  const data = resolve(options.data);
  const database =
    options.databaseUrl === undefined
      ? openSqlite({ path: join(data, 'pawl.db'), world })
      : await openPostgres({ url: options.databaseUrl });
  const settings = options.embedder ?? { choice: 'local' };
  const embedders = embeddersFor(settings, world);
  const parts = {
    ...embedders,
    purse: new Purse(database, world),
    fetcher: httpFetcher({ world, allowed: allowedHosts(options.allowHosts ?? []) }),
  };
  const documents = documentPipeline({
    ...parts,
    blobs: openBlobDirectory(join(data, 'blobs'), world),
  });
  const pipeline = options.pipeline?.(documents) ?? documents;
  await migrate(database, pipeline.lifecycle);
  const engine = new Engine({
    database,
    pipeline,
    world,
    liveness: thisProcess(),
    places: options.places,
    onError: options.onError ?? (() => undefined),
  });
  const searcher = new Searcher({ database, ...embedders.forQueries });
  const close = async (): Promise<void> => {
    // What was paid for is waited for, and needs the database to be kept.
    await embedders.close();
    await database.close();
  };
  const estimate = async (input: EstimateInput): Promise<Estimate> => {
    const { embedder, otherEmbedder } = embedders;
    const { model } = await getCorpusSettings(database, input);
    return estimateIngestion(
      {
        pipeline: documentPipeline({ ...parts, blobs: nowhere }),
        reader: database,
        world,
        embedder: (model !== null && otherEmbedder(model)) || embedder,
        tokensPerMinute: settings.budget?.tokensPerMinute ?? limits.budget.tokensPerMinute,
      },
      input,
    );
  };
  return { database, engine, searcher, embedder: embedders.embedder, estimate, close };
}

/** For steps whose results nobody keeps. */
const nowhere: BlobStore = {
  put: async () => 'nowhere',
  get: () => Promise.reject(new Failure('source_missing', 'nothing is kept of an estimate')),
};

/** The embedder that is configured, and those of corpora that were begun with another model. */
function embeddersFor(settings: EmbedderSettings, world: World) {
  const made = new Map<string, Embedder>();
  const embedder = chooseEmbedder(settings, world);
  made.set(embedder.model, embedder);
  const otherEmbedder = (model: string): Embedder | undefined => {
    const choice = model === staticEmbedder().model ? 'local' : `openai:${model}`;
    // A folder cannot be found by the name of its model.
    if (model.startsWith('onnx:')) return made.get(model);
    const { url, key, budget } = settings;
    const other = made.get(model) ?? chooseEmbedder({ choice, url, key, budget }, world);
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

const openaiUrl = 'https://api.openai.com/v1';

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
