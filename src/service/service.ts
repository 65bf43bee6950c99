/** The dependencies of handlers: the engine, the store, and the access rules. */

import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Audit } from '../access/audit.ts';
import type { CallerContext } from '../access/caller.ts';
import type { CallerDirectory } from '../access/caller-directory.ts';
import type { CorpusDirectory } from '../access/corpus-directory.ts';
import type { AttemptSession } from '../attempt/session.ts';
import type { StreamedBlobStore } from '../blob/blob.ts';
import type {
  AnswerOf,
  BodyOf,
  HeadersOf,
  ParamsOf,
  QueryOf,
  RouteName,
} from '../contract/contract.ts';
import type { BatchCommands } from '../engine/batch/commands.ts';
import type { CallerCommands } from '../engine/command/caller-commands.ts';
import type { Commands } from '../engine/command/commands.ts';
import type { ConfiguredOrigins } from '../engine/command/origins.ts';
import type { Relay } from '../engine/relay.ts';
import type { SyncCommands } from '../engine/sync/commands.ts';
import type { Lifecycle } from '../kernel/lifecycle/item.ts';
import type { World } from '../kernel/world.ts';
import type { Trace } from '../observe/trace.ts';
import type { Extractor } from '../pipeline/entity/extraction.ts';
import type { Embedder } from '../provider/embedding/embedding.ts';
import type { Answerer } from '../search/answer/answerer.ts';
import type { Searcher } from '../search/search.ts';
import type { Sink } from '../sink/sink.ts';
import type { Database } from '../store/driver/database.ts';
import type { ServiceAccess } from './access.ts';
import type { Metrics } from './metric/metrics.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import type { Streams } from './stream/streams.ts';
import type { ShownJobs } from './view/job-views.ts';
import type { ProgressBoard } from './view/progress-board.ts';

export interface Service {
  readonly database: Database;
  readonly commands: Commands;
  readonly batch: BatchCommands;
  readonly relay: Relay;
  readonly searcher: Searcher;
  readonly blobs: StreamedBlobStore;
  readonly embedder: Embedder;
  /** The services that this process sends texts to. */
  readonly origins: ConfiguredOrigins;
  readonly sinks: readonly Sink[];
  /** Undefined: local rules and word lists find the entities. */
  readonly extractor?: Extractor | undefined;
  /** Undefined: no model answers questions. */
  readonly answerer?: Answerer | undefined;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  readonly access: ServiceAccess;
  /** The callers, if there is a store that has them. */
  readonly directory?: CallerDirectory | undefined;
  readonly corpora: CorpusDirectory;
  readonly callers: CallerCommands;
  readonly sources: SyncCommands;
  readonly audit: Audit;
  readonly capacity: QueueCapacity;
  readonly jobs: ShownJobs;
  /** Absent if no collector is configured. */
  readonly trace?: Trace | undefined;
  /** Notifies the webhook sender, so that deliveries are sent immediately. */
  readonly webhooks: { readonly secret: string | undefined; ring(): void };
  readonly streams: Streams;
  readonly metrics: Metrics;
  readonly progress: ProgressBoard;
  readonly attempt: AttemptSession;
  readonly about: {
    readonly version: string;
    /** The disk of the data folder. */
    readDisk(): Promise<{ readonly freeBytes: number; readonly totalBytes: number } | null>;
  };
  /** There are no keys, so every caller is local. */
  readonly isLocal: boolean;
  /** The service is shutting down: new requests should use another process. */
  isDraining(): boolean;
}

/** The read-only part of the dependencies. */
export type ReadService = Pick<Service, 'database' | 'lifecycle' | 'progress' | 'searcher'>;

/** The dependencies of the routes that a process also answers for itself, without HTTP. */
export type StoreService = ReadService &
  Pick<Service, 'commands' | 'embedder' | 'origins' | 'corpora' | 'callers' | 'audit' | 'jobs'> &
  Pick<
    Service,
    'batch' | 'capacity' | 'webhooks' | 'world' | 'sources' | 'isLocal' | 'answerer'
  > & {
    readonly directory?: Pick<CallerDirectory, 'forget'> | undefined;
    readonly metrics: Pick<Metrics, 'seeSearch'>;
  };

export interface Ask<Name extends RouteName> {
  readonly caller: CallerContext;
  readonly params: ParamsOf<Name>;
  readonly query: QueryOf<Name>;
  readonly body: BodyOf<Name>;
  readonly headers: HeadersOf<Name>;
  readonly log: FastifyBaseLogger;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Undefined: the handler has sent the response. */
export type Handler<Name extends RouteName> = (
  ask: Ask<Name>,
) => Promise<AnswerOf<Name> | undefined>;

/** A request that needs no HTTP: what it writes to the log and to the headers may be dropped. */
export interface StoreAsk<Name extends RouteName>
  extends Pick<Ask<Name>, 'caller' | 'params' | 'query' | 'body' | 'headers'> {
  readonly log: { info(fields: object, message: string): void };
  readonly reply: { header(name: string, value: string): unknown };
}

export type StoreHandlers<Names extends RouteName = RouteName> = {
  readonly [N in Names]: (ask: StoreAsk<N>) => Promise<AnswerOf<N>>;
};

export type Handlers<Names extends RouteName = RouteName> = { readonly [N in Names]: Handler<N> };
