/** What the library can be told. */

import type { EmbedderSettings } from '../app/adapter/models.ts';
import type { AssembleOptions } from '../app/wire.ts';
import type { World } from '../kernel/world.ts';
import type { SearchFilter, SearchMode } from '../search/request.ts';
import type { CrawlInput } from '../source/sources.ts';

export interface OpenOptions {
  /** The folder of the store; `.pawl` where nothing is said. */
  readonly data?: string | undefined;
  /** The address of a Postgres database, instead of the embedded one. */
  readonly database?: string | undefined;
  /** Documents that are worked on at once. */
  readonly workers?: number | undefined;
  /** Exact `host:port` pairs that may be fetched from although they are not public. */
  readonly allowHosts?: readonly string[] | undefined;
  /** A model that finds entities, behind an interface like OpenAI's; rules where absent. */
  readonly extractor?: AssembleOptions['extractor'];
  /** `off`, `auto`, or the path of a Chromium that shows pages which need their scripts. */
  readonly browser?: string | undefined;
  /** Which pages it shows: those that are `needed`, where nothing is said, or `always`. */
  readonly render?: AssembleOptions['render'];
  /** How fast single domains may be read: pages at once, and milliseconds apart. */
  readonly pace?: AssembleOptions['pace'];
  /** What turns text into vectors; the local one where nothing is said. */
  readonly embedder?: EmbedderSettings | undefined;
  /** Who takes work for hours at a lower price: the entries of `PAWL_BATCH_PROVIDERS`. */
  readonly batchProviders?: AssembleOptions['batchProviders'];
  /** Providers that Pawl does not know by itself: see `docs/guide/extend.md`. */
  readonly batchAdapters?: AssembleOptions['batchAdapters'];
  readonly batchPollMs?: number | undefined;
  /** How long the cheap lane gathers work before it makes a task of it. */
  readonly batchGatherMs?: number | undefined;
  /** Where the fetched bytes are kept; in the data folder where nothing is said. */
  readonly blobs?: AssembleOptions['blobs'];
  /** Copies for others, and for searches: vectors in Qdrant, entities in Neo4j. */
  readonly sinks?: AssembleOptions['sinks'];
  /** `auto`, where nothing is said: Postgres searches vectors where it has pgvector; or `off`. */
  readonly pgvector?: AssembleOptions['pgvector'];
  /** False: this process only asks and commands, and leaves the work to others. */
  readonly work?: boolean | undefined;
  /**
   * Called when something in the background failed and will be tried again. While the store or
   * another thing that all documents need is away, that is once.
   */
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
  /** Called every five minutes while such an outage lasts, and when it is over. */
  readonly onOutage?: ((message: string) => void) | undefined;
  readonly world?: World | undefined;
  /** Builds another pipeline than that of documents: the way to add a step. */
  readonly pipeline?: AssembleOptions['pipeline'];
}

export interface IngestOptions {
  readonly corpus: string;
  /** Indexes documents anew even if they have not changed. */
  readonly force?: boolean | undefined;
  /** From 0 to 9; higher goes first. */
  readonly priority?: number | undefined;
  /** What the job may cost: before it would cost more, it is paused. */
  readonly budgetCents?: number | undefined;
  /** How long the job may run before what is open of it ends as failed; 7 days at most. */
  readonly maxWallSeconds?: number | undefined;
  /** `cheap`: what providers do for hours at a lower price is left to them. */
  readonly lane?: 'now' | 'cheap' | undefined;
  /** Takes the addresses for where a crawl begins, and follows their links within the site. */
  readonly crawl?: CrawlInput | undefined;
  /** Reads files that a link inside a folder leads to outside of it. */
  readonly followLinks?: boolean | undefined;
  /** Called for each entry of a folder that is left out, with the reason. */
  readonly onSkipped?: ((source: string, reason: string) => void) | undefined;
  /** Goes on with an unfinished job of the same files, if there is one, instead of a second one. */
  readonly resume?: boolean | undefined;
}

export interface SearchOptions {
  readonly topK?: number | undefined;
  /** Keywords and vectors together, where nothing is said. */
  readonly mode?: SearchMode | undefined;
  readonly filter?: SearchFilter | undefined;
  /** Says of each hit what each list gave it. */
  readonly explain?: boolean | undefined;
}
