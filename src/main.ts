/** The composition root: the only file that names adapters. */
import { join, resolve } from 'node:path';
import { type AccessOptions, type OpenAccess, openAccess } from './access/access.ts';
import { openAttempt } from './attempt/open.ts';
import type { AttemptSession } from './attempt/session.ts';
import type { StreamedBlobStore } from './blob/blob.ts';
import { openBlobDirectory } from './blob/directory.ts';
import { Engine } from './engine/engine.ts';
import { thisProcess } from './engine/liveness.ts';
import { Failure } from './kernel/failure.ts';
import type { Lifecycle } from './kernel/item.ts';
import type { World } from './kernel/world.ts';
import type { NewEvent } from './observe/event.ts';
import { type Log, makeLog } from './observe/log.ts';
import { documentPipeline } from './pipeline/document.ts';
import type { Extractor } from './pipeline/entity/extraction.ts';
import { modelExtractor } from './pipeline/entity/model-extractor.ts';
import { processParser } from './pipeline/extract/process/process-parser.ts';
import { allowedHosts } from './pipeline/fetch/address.ts';
import { httpFetcher } from './pipeline/fetch/http.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import { Preview } from './pipeline/preview.ts';
import type { Embedder } from './provider/embedding.ts';
import { openaiCompleter } from './provider/openai-completion.ts';
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
  /** A model that finds entities, behind an interface like OpenAI's; rules where absent. */
  readonly extractor?: ExtractorOptions | undefined;
  readonly world?: World | undefined;
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
  /** Where the interactive attempt tells what it does; nowhere where absent. */
  readonly attemptLog?: Log | undefined;
  /** Told how far a long step has come. */
  readonly onProgress?: ((event: NewEvent) => void) | undefined;
  /** Builds another pipeline than that of documents: the way to add a step. */
  readonly pipeline?: ((documents: Pipeline) => Pipeline) | undefined;
}

export interface ExtractorOptions {
  readonly model: string;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

export interface Assembled {
  readonly database: Database;
  readonly engine: Engine;
  readonly searcher: Searcher;
  readonly attempt: AttemptSession;
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
  const parser = processParser({ world });
  const blobs = openBlobDirectory(join(data, 'blobs'), world);
  const fetcher = httpFetcher({ world, allowed: allowedHosts(options.allowHosts ?? []) });
  const documents = documentPipeline({
    blobs,
    embedder,
    fetcher,
    parser: parser.parse,
    extractor: options.extractor && extractorOf(options.extractor, world),
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
  const preview = new Preview({ fetcher, parser: parser.parse, world });
  const attempt = await openAttempt({
    ...{ database, blobs, world, commands: engine.commands, parser: parser.parse },
    folder: join(data, 'attempts'),
    liveness: thisProcess(),
    read: (source, signal) => preview.read(source, signal),
    log: options.attemptLog ?? makeLog('silent', () => undefined),
  });
  const close = async (): Promise<void> => {
    // While the store is open: what the attempt still has under way must come to rest.
    await attempt.close();
    await parser.close();
    await database.close();
  };
  const { lifecycle } = pipeline;
  return { database, engine, searcher, attempt, blobs, embedder, lifecycle, world, close };
}

export interface AssembledPreview {
  readonly preview: Preview;
  close(): Promise<void>;
}

/** What looks at documents without a store. */
export function assemblePreview({
  allowHosts = [],
  world = realWorld(),
}: Pick<AssembleOptions, 'allowHosts' | 'world'>): AssembledPreview {
  const parser = processParser({ world });
  const fetcher = httpFetcher({ world, allowed: allowedHosts(allowHosts) });
  const preview = new Preview({ fetcher, parser: parser.parse, world });
  return { preview, close: () => parser.close() };
}

export interface AccessSettings extends Omit<AccessOptions, 'remote'> {
  readonly redisUrl?: string | undefined;
  readonly log: Log;
}

export interface AssembledAccess {
  readonly access: OpenAccess;
  close(): void;
}

/** Who may ask, and how much. With Redis, when it was reached or found to be away. */
export async function assembleAccess(settings: AccessSettings): Promise<AssembledAccess> {
  const { redisUrl: url, world, log } = settings;
  if (url === undefined) return { access: openAccess(settings), close: () => undefined };
  // Loaded where it is used: a command without a service starts faster.
  const { RedisLink } = await import('./access/redis.ts');
  const remote = new RedisLink({ url, world, log });
  await remote.settled();
  return { access: openAccess({ ...settings, remote }), close: () => remote.close() };
}

const openaiUrl = 'https://api.openai.com/v1';

function extractorOf({ model, url, key }: ExtractorOptions, world: World): Extractor {
  if (url === undefined && key === undefined) {
    const message = `${model} needs a key: set PAWL_EXTRACTOR_KEY, or PAWL_EXTRACTOR_URL`;
    throw new Failure('usage_error', message);
  }
  return modelExtractor(openaiCompleter({ model, url: url ?? openaiUrl, key, world }));
}
