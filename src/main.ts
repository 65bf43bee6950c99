/** The composition root: the only file that names adapters. */
import { join, resolve } from 'node:path';
import { openBlobDirectory } from './blob/directory.ts';
import { Engine } from './engine/engine.ts';
import { thisProcess } from './engine/liveness.ts';
import { Failure } from './kernel/failure.ts';
import type { World } from './kernel/world.ts';
import { documentPipeline } from './pipeline/document.ts';
import { allowedHosts } from './pipeline/fetch/address.ts';
import { httpFetcher } from './pipeline/fetch/http.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import type { BudgetLimits } from './provider/budget.ts';
import type { Embedder } from './provider/embedding.ts';
import { onnxEmbedder } from './provider/onnx-embedder.ts';
import { openaiEmbedder } from './provider/openai-embedder.ts';
import { staticEmbedder } from './provider/static-embedder.ts';
import { Searcher } from './search/search.ts';
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
  close(): Promise<void>;
}

export async function assemble(options: AssembleOptions): Promise<Assembled> {
  const world = options.world ?? realWorld();
  const data = resolve(options.data);
  const embedder = chooseEmbedder(options.embedder ?? { choice: 'local' }, world);
  const documents = documentPipeline({
    blobs: openBlobDirectory(join(data, 'blobs'), world),
    embedder,
    fetcher: httpFetcher({ world, allowed: allowedHosts(options.allowHosts ?? []) }),
  });
  const pipeline = options.pipeline?.(documents) ?? documents;
  const database =
    options.databaseUrl === undefined
      ? openSqlite({ path: join(data, 'pawl.db'), world })
      : await openPostgres({ url: options.databaseUrl });
  await migrate(database, pipeline.lifecycle);
  const engine = new Engine({
    database,
    pipeline,
    world,
    liveness: thisProcess(),
    places: options.places,
    onError: options.onError ?? (() => undefined),
  });
  const searcher = new Searcher({ database, embedder });
  const close = async (): Promise<void> => {
    // What was paid for is waited for, and needs the database to be kept.
    await embedder.close?.();
    await database.close();
  };
  return { database, engine, searcher, close };
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
