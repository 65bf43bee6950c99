/** The composition root: the only file that names adapters. */
import { join, resolve } from 'node:path';
import { type AccessOptions, type OpenAccess, openAccess } from './access/access.ts';
import type { BlobStore, StreamedBlobStore } from './blob/blob.ts';
import { openBlobDirectory } from './blob/directory.ts';
import { Engine } from './engine/engine.ts';
import { thisProcess } from './engine/liveness.ts';
import { Failure } from './kernel/failure.ts';
import type { Lifecycle } from './kernel/item.ts';
import { limits } from './kernel/limits.ts';
import type { World } from './kernel/world.ts';
import {
  type EmbedderSettings,
  type ExtractorOptions,
  embeddersFor,
  extractorOf,
} from './models.ts';
import type { NewEvent } from './observe/event.ts';
import type { Log } from './observe/log.ts';
import type { ModelCall } from './observe/trace.ts';
import { type DocumentPipelineOptions, documentPipeline } from './pipeline/document.ts';
import { type Estimate, type EstimateInput, estimateIngestion } from './pipeline/estimate.ts';
import { processParser } from './pipeline/extract/process/process-parser.ts';
import { allowedHosts } from './pipeline/fetch/address.ts';
import { ChromiumRenderer } from './pipeline/fetch/browser.ts';
import { findBrowser } from './pipeline/fetch/browser-launch.ts';
import { type Fetcher, httpFetcher } from './pipeline/fetch/http.ts';
import type { Paces } from './pipeline/fetch/politeness.ts';
import { httpPost, type Post } from './pipeline/fetch/post.ts';
import type { RenderWhen } from './pipeline/fetch/render.ts';
import { checkTarget } from './pipeline/fetch/resolve.ts';
import type { Rendering } from './pipeline/fetch/shown.ts';
import { readUrl } from './pipeline/fetch/url.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import { Preview } from './pipeline/preview.ts';
import { Purse } from './pipeline/purse.ts';
import type { Embedder } from './provider/embedding.ts';
import { Searcher } from './search/search.ts';
import { getCorpusSettings } from './store/corpus-settings.ts';
import type { Database } from './store/database.ts';
import { openGateAt } from './store/gates.ts';
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
  /** What turns text into vectors; the local one where nothing is said. */
  readonly embedder?: EmbedderSettings | undefined;
  /** A model that finds entities, behind an interface like OpenAI's; rules where absent. */
  readonly extractor?: ExtractorOptions | undefined;
  /** `off`, `auto`, or the path of a Chromium that shows pages which need their scripts. */
  readonly browser?: string | undefined;
  readonly render?: RenderWhen | undefined;
  /** How fast single domains may be read. */
  readonly pace?: Paces | undefined;
  readonly world?: World | undefined;
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
  /** Told of each call of a model. */
  readonly onCall?: ((call: ModelCall) => void) | undefined;
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
  /** The one that is configured. */
  readonly embedder: Embedder;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  /** To addresses that others have named. */
  readonly post: Post;
  estimate(input: EstimateInput): Promise<Estimate>;
  close(): Promise<void>;
}

export async function assemble(options: AssembleOptions): Promise<Assembled> {
  const world = options.world ?? realWorld();
  const data = resolve(options.data);
  const allowed = allowedHosts(options.allowHosts ?? []);
  const fetcher = httpFetcher({ world, allowed });
  const rendering = renderingOf(options, fetcher, world);
  const blobs = openBlobDirectory(join(data, 'blobs'), world);
  const parser = processParser({ world });
  const database =
    options.databaseUrl === undefined
      ? openSqlite({ path: join(data, 'pawl.db'), world })
      : await openPostgres({ url: options.databaseUrl });
  const embedders = embeddersFor(options.embedder ?? { choice: 'local' }, world, options.onCall);
  const parts = {
    ...embedders,
    purse: new Purse(database, world),
    fetcher,
    rendering,
    paces: options.pace,
    parser: parser.parse,
    extractor: options.extractor && extractorOf(options.extractor, world),
  };
  const documents = documentPipeline({ ...parts, blobs });
  const pipeline = options.pipeline?.(documents) ?? documents;
  await migrate(database, pipeline.lifecycle);
  await openGates(database, options.pace ?? {});
  const engine = new Engine({
    database,
    pipeline,
    world,
    liveness: thisProcess(),
    blobs,
    checkSource: ({ kind, source }) => {
      if (kind === 'url') checkTarget(readUrl(source), allowed);
    },
    places: options.places,
    onError: options.onError ?? (() => undefined),
    onProgress: options.onProgress,
  });
  const searcher = new Searcher({ database, ...embedders.forQueries });
  const close = async (): Promise<void> => {
    await parser.close();
    await rendering?.renderer.close();
    // What was paid for is waited for, and needs the database to be kept.
    await embedders.close();
    await database.close();
  };
  const estimate = estimator(options, { parts, database, world });
  const { embedder } = embedders;
  const { lifecycle } = pipeline;
  const post = httpPost({ world, allowed });
  return { database, engine, searcher, blobs, embedder, lifecycle, world, post, estimate, close };
}

interface EstimatorParts {
  readonly parts: Omit<DocumentPipelineOptions, 'blobs'> & ReturnType<typeof embeddersFor>;
  readonly database: Database;
  readonly world: World;
}

function estimator(
  { embedder: settings }: AssembleOptions,
  { parts, database, world }: EstimatorParts,
): Assembled['estimate'] {
  return async (input) => {
    const { embedder, otherEmbedder } = parts;
    const { model } = await getCorpusSettings(database, input);
    return estimateIngestion(
      {
        pipeline: documentPipeline({ ...parts, blobs: nowhere }),
        reader: database,
        world,
        embedder: (model !== null && otherEmbedder(model)) || embedder,
        tokensPerMinute: settings?.budget?.tokensPerMinute ?? limits.budget.tokensPerMinute,
      },
      input,
    );
  };
}

/** For steps whose results nobody keeps. */
const nowhere: BlobStore = {
  put: async () => 'nowhere',
  get: () => Promise.reject(new Failure('source_missing', 'nothing is kept of an estimate')),
};

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

async function openGates(database: Database, paces: Paces): Promise<void> {
  const gates = Object.entries(paces);
  if (gates.length === 0) return;
  await database.write(async (transaction) => {
    for (const [name, pace] of gates) await openGateAt(transaction, { ...pace, name });
  });
}

/** No browser is started here: only that there is one is seen to. */
function renderingOf(
  { browser = 'off', render: when = 'needed' }: AssembleOptions,
  fetcher: Fetcher,
  world: World,
): Rendering | undefined {
  const executable = findBrowser(browser);
  if (executable === undefined) return undefined;
  return { renderer: new ChromiumRenderer({ executable, fetcher, world }), when };
}
