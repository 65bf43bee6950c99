/** The composition root: the only file that names adapters. */
import { join, resolve } from 'node:path';
import type { StreamedBlobStore } from './blob/blob.ts';
import { openBlobDirectory } from './blob/directory.ts';
import { Engine } from './engine/engine.ts';
import { thisProcess } from './engine/liveness.ts';
import type { Lifecycle } from './kernel/item.ts';
import type { World } from './kernel/world.ts';
import type { NewEvent } from './observe/event.ts';
import { documentPipeline } from './pipeline/document.ts';
import { allowedHosts } from './pipeline/fetch/address.ts';
import { httpFetcher } from './pipeline/fetch/http.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import type { Embedder } from './provider/embedding.ts';
import { staticEmbedder } from './provider/static-embedder.ts';
import { Searcher } from './search/search.ts';
import type { Database } from './store/database.ts';
import { migrate } from './store/migrate.ts';
import { openPostgres } from './store/postgres.ts';
import { openSqlite } from './store/sqlite.ts';
import { realWorld } from './world.ts';

export interface AssembleOptions {
  readonly data: string;
  /** Postgres; the embedded store where absent. */
  readonly databaseUrl?: string | undefined;
  readonly places?: number | undefined;
  /** Exact `host:port` pairs that may be fetched from although they are not public. */
  readonly allowHosts?: readonly string[] | undefined;
  readonly world?: World | undefined;
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
  /** Told how far a long step has come. */
  readonly onProgress?: ((event: NewEvent) => void) | undefined;
  /** Builds another pipeline than that of documents: the way to add a step. */
  readonly pipeline?: ((documents: Pipeline) => Pipeline) | undefined;
}

export interface Assembled {
  readonly database: Database;
  readonly engine: Engine;
  readonly searcher: Searcher;
  readonly blobs: StreamedBlobStore;
  readonly embedder: Embedder;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  close(): Promise<void>;
}

export async function assemble(options: AssembleOptions): Promise<Assembled> {
  const world = options.world ?? realWorld();
  const data = resolve(options.data);
  const embedder = staticEmbedder();
  const blobs = openBlobDirectory(join(data, 'blobs'), world);
  const documents = documentPipeline({
    blobs,
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
    onProgress: options.onProgress,
  });
  const searcher = new Searcher({ database, embedder });
  const { lifecycle } = pipeline;
  const close = (): Promise<void> => database.close();
  return { database, engine, searcher, blobs, embedder, lifecycle, world, close };
}
