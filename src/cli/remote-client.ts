/** A remote service behind the interface that commands use. */
import { openAsBlob } from 'node:fs';
import { relative } from 'node:path';
import { Client, type ClientOptions } from '../client/http.ts';
import type { AnswerOf, BodyOf, QueryOf } from '../contract/contract.ts';
import type {
  Corpus,
  Document,
  Item,
  Job,
  Event as SentEvent,
  Hit as SentHit,
} from '../contract/schema/schema.ts';
import { filterShape } from '../contract/search-filter.ts';
import type {
  CauseRow,
  CorpusOrigins,
  CorpusRow,
  Event,
  Hit,
  JobCounters,
  JobSummary,
} from '../index.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { OriginUse } from '../kernel/name/origin.ts';
import { jobEnds } from '../observe/event.ts';
import { pathOfSource } from '../pipeline/fetch/file-path.ts';
import type { NewSource } from '../store/job/submit.ts';
import type { DocumentOf, ItemOf, JobClient, PawlClient } from './pawl-client.ts';
import { remoteCallers, remoteShares } from './remote-callers.ts';

export function remotePawl(options: ClientOptions): PawlClient {
  const client = new Client(options);
  const jobClient = (job: Pick<Job, 'job_id' | 'corpus_name'>): JobClient => remoteJob(client, job);
  return {
    work: async () => undefined,
    isWorkedOn: async () => true,
    newestEvent: async () => (await client.ask('GET /events', { query: { limit: 1 } })).newest_seq,
    job: async (id) => jobClient(await findJob(client, id)),
    jobOf: async ({ job_id }) => jobClient(await findJob(client, String(job_id))),
    jobs: async ({ corpus, state, limit } = {}) => {
      const query = { corpus_name: corpus, state, limit };
      return (await client.ask('GET /jobs', { query })).items.map(summaryOf);
    },
    submit: async (sources, options_) => {
      const { job_id } = await submit(client, sources, options_);
      return jobClient({ job_id, corpus_name: options_.corpus });
    },
    search: async (corpus, query, { topK, mode, filter, explain } = {}) => {
      const body = {
        corpus_name: corpus,
        query,
        top_k: topK,
        mode,
        explain,
        filter: filter && filterShape(filter),
      };
      return (await client.ask('POST /search', { body })).results.map(hitOf);
    },
    why: (corpus, url, query) =>
      client.ask('GET /why', { query: { corpus_name: corpus, url, query } }),
    ...remoteCorpora(client, jobClient),
    ...remoteShares(client),
    callers: remoteCallers(client),
    causes: async (corpus) => {
      const query = { corpus_name: corpus, limit: 1 };
      return causesOf((await client.ask('GET /inbox', { query })).causes);
    },
    inbox: async ({ cause, corpus, after, limit } = {}) => {
      const cursor = after ? String(after) : undefined;
      const query = { cause, corpus_name: corpus, cursor, limit };
      return (await client.ask('GET /inbox', { query })).items.map(itemOf);
    },
    item: async (id) => itemOf(await client.ask('GET /items/:id', { params: { id: String(id) } })),
    retryItems: async (ids) =>
      (await client.ask('POST /inbox/retry', { body: { item_ids: [...ids] } })).retried,
    discardItems: async (ids) =>
      (await client.ask('POST /inbox/discard', { body: { item_ids: [...ids] } })).discarded,
  };
}

function remoteCorpora(
  client: Client,
  jobClient: (job: Pick<Job, 'job_id' | 'corpus_name'>) => JobClient,
) {
  return {
    corpora: async ({ after, limit = limits.request.pageItemsMax } = {}) => {
      const query = { cursor: after || undefined, limit };
      return (await client.ask('GET /corpora', { query })).items.map(corpusOf);
    },
    corpus: async (name) => corpusOf(await client.ask('GET /corpora/:name', { params: { name } })),
    documents: async (name, { after, limit, partlyRead } = {}) => {
      const query = { cursor: after || undefined, limit, partly_read: partlyRead };
      const params = { name };
      const page = await client.ask('GET /corpora/:name/documents', { params, query });
      return page.items.map(documentOf);
    },
    spending: async (name) => {
      const detail = await client.ask('GET /corpora/:name', { params: { name } });
      return { ...detail, tokens_in: detail.tokens.in, tokens_out: detail.tokens.out };
    },
    setCorpusBudget: async (name, budget_cents) =>
      void (await client.ask('POST /corpora/:name/budget', {
        params: { name },
        body: { budget_cents },
      })),
    reembed: async (name, { budgetCents: budget_cents } = {}) => {
      const asking = { params: { name }, body: { budget_cents } };
      const { job_id } = await client.ask('POST /corpora/:name/reembed', asking);
      return job_id === null ? undefined : jobClient({ job_id, corpus_name: name });
    },
    origins: async (name) =>
      originsOf(await client.ask('GET /corpora/:name/origins', { params: { name } })),
    acceptOrigins: async (name) =>
      originsOf(await client.ask('POST /corpora/:name/origins', { params: { name } })),
    ...remoteEntities(client),
    deleteCorpus: async (name) =>
      (await client.ask('DELETE /corpora/:name', { params: { name } })).deleted,
  } satisfies Partial<PawlClient>;
}

function corpusOf({ created_at, updated_at, ...corpus }: Corpus): CorpusRow {
  return { ...corpus, created_at: at(created_at), updated_at: maybeAt(updated_at) };
}

type SentOrigins = AnswerOf<'GET /corpora/:name/origins'>;

function originsOf({ recorded, configured }: SentOrigins): CorpusOrigins {
  const rows = (list: SentOrigins['recorded']) =>
    list.map(({ use, url }) => ({ use: use as OriginUse, url }));
  return { recorded: rows(recorded), configured: rows(configured) };
}

type EntityKind = NonNullable<QueryOf<'GET /corpora/:name/entities'>['kind']>;

function remoteEntities(client: Client) {
  return {
    entities: async (name, { kind, limit } = {}) => {
      const query = { kind: kind as EntityKind | undefined, limit };
      return (await client.ask('GET /corpora/:name/entities', { params: { name }, query })).items;
    },
    documentEntities: async (id, { kind, limit } = {}) => {
      const query = { kind: kind as EntityKind | undefined, limit };
      return (await client.ask('GET /documents/:id/entities', { params: { id }, query })).items;
    },
    related: async (name, entity, query = {}) => {
      const asking = { params: { name, entity }, query };
      const { items } = await client.ask('GET /corpora/:name/entities/:entity', asking);
      return items.map(({ passages: weight, ...row }) => ({ ...row, weight }));
    },
  } satisfies Partial<PawlClient>;
}

function remoteJob(
  client: Client,
  { job_id: id, corpus_name }: Pick<Job, 'job_id' | 'corpus_name'>,
) {
  const params = { id };
  const detail = () => client.ask('GET /jobs/:id', { params });
  let counted: { readonly counts: Promise<JobSummary>; readonly at: number } | undefined;
  return {
    id,
    corpus: corpus_name,
    isResumed: false,
    async *events({ after = 0, signal } = {}) {
      for await (const event of client.follow({ jobId: id, after, signal })) {
        if (jobEnds.has(event.kind)) counted = undefined;
        yield eventOf(event);
      }
    },
    async *history({ after, until }) {
      for (let from = after, hasMore = true; hasMore && from < until; ) {
        const page = await client.ask('GET /jobs/:id/events', { params, query: { after: from } });
        yield* page.items.map(eventOf).filter(({ seq }) => seq <= until);
        from = page.last_seq;
        hasMore = page.has_more;
      }
    },
    summary: async () => summaryOf(await detail()),
    counts: () => {
      if (counted === undefined || performance.now() - counted.at > countAgeMsMax) {
        counted = { counts: detail().then(summaryOf), at: performance.now() };
      }
      return counted.counts;
    },
    unchanged: async () => (await detail()).items_unchanged,
    partlyRead: async () => (await detail()).documents_partly_read,
    causes: async () => causesOf((await detail()).causes),
    pause: async () => void (await client.ask('POST /jobs/:id/pause', { params })),
    resume: async ({ budgetCents: budget_cents } = {}) =>
      void (await client.ask('POST /jobs/:id/resume', { params, body: { budget_cents } })),
    retry: async () => (await client.ask('POST /jobs/:id/retry', { params })).items_retried ?? 0,
    cancel: async () => {
      const { stopped, kept } = await client.ask('POST /jobs/:id/cancel', { params });
      const { items_failed } = await detail();
      return { itemsCanceled: stopped.items, itemsDone: kept.items, itemsFailed: items_failed };
    },
  } satisfies JobClient;
}

/** Progress is redrawn ten times per second. Not every redraw needs a request. */
const countAgeMsMax = 1000;

/** Finds a job by its id, or among the newest by a prefix of it. */
async function findJob(client: Client, id: string): Promise<Job> {
  if (id.length === 36) return client.ask('GET /jobs/:id', { params: { id } });
  const query = { limit: limits.request.pageItemsMax };
  const { items } = await client.ask('GET /jobs', { query });
  const [job, other] = items.filter(({ job_id }) => job_id.startsWith(id));
  if (job && !other) return job;
  const message = job ? `more than one job begins with ${id}` : `there is no job ${id}`;
  throw new Failure('job_unknown', message);
}

type SubmitOptions = Parameters<PawlClient['submit']>[1];

async function submit(client: Client, sources: readonly NewSource[], options: SubmitOptions) {
  const { corpus: corpus_name, force, priority, lane, crawl } = options;
  const chosen = {
    corpus_name,
    force,
    priority,
    lane,
    budget_cents: options.budgetCents,
    max_wall_seconds: options.maxWallSeconds,
  };
  const kinds = new Set(sources.map(({ kind }) => kind));
  if (kinds.size > 1) {
    const message =
      'a job on a service takes either files, addresses or text: submit them separately';
    throw new Failure('usage_error', message);
  }
  if (kinds.has('file')) {
    const files = [];
    for (const { source } of sources) {
      files.push({
        name: relative(process.cwd(), source),
        blob: await openAsBlob(pathOfSource(source)),
      });
    }
    return client.upload({ ...chosen, files });
  }
  return client.ask('POST /jobs', { body: { ...chosen, ...whatOf(sources, crawl) } });
}

function whatOf(
  sources: readonly NewSource[],
  crawl: SubmitOptions['crawl'],
): Partial<BodyOf<'POST /jobs'>> {
  const urls = sources.filter(({ kind }) => kind === 'url').map(({ source }) => source);
  if (crawl) {
    const [url = ''] = urls;
    const { depth, limit, include, exclude } = crawl;
    const globs = { include: include && [...include], exclude: exclude && [...exclude] };
    return { crawl: { url, depth, limit, ...globs } };
  }
  if (urls.length > 0) return { urls };
  const documents = sources.map(({ source, input }) => ({
    id: source.replace(/^inline:/, ''),
    ...(input?.title && { title: input.title }),
    [input?.kind ?? 'text']: input?.body ?? '',
  }));
  return { documents };
}

/** Drops fields of a job response that commands do not print. */
function countersOf({ steps: _, ...counters }: JobCounters & { steps?: unknown }): JobCounters {
  return counters;
}

const at = (text: string): number => Date.parse(text);
const maybeAt = (text: string | null): number | null => (text === null ? null : at(text));

function summaryOf(job: Job): JobSummary {
  return {
    id: job.job_id,
    corpus: job.corpus_name,
    type: job.type,
    state: job.state,
    status: job.status,
    message: job.message,
    partial: job.partial,
    items: {
      total: job.items_total,
      done: job.items_done,
      failed: job.items_failed,
      canceled: job.items_canceled,
      waiting: job.items_waiting,
    },
    chunks: job.chunks_indexed,
    counters: countersOf(job.counters),
    tokens: job.tokens,
    costCents: job.cost_cents,
    tokensUnpriced: job.tokens_unpriced,
    saved: { tokens: job.tokens_saved, cents: job.saved_cents },
    budgetCents: job.budget_cents,
    maxWallSeconds: job.max_wall_seconds,
    deadlineAt: maybeAt(job.deadline_at),
    pauseReason: job.pause_reason,
    failedStage: job.failed_stage ?? null,
    error: job.error ?? null,
    createdAt: at(job.created_at),
    startedAt: maybeAt(job.started_at),
    endedAt: maybeAt(job.ended_at),
    canceledAt: maybeAt(job.canceled_at),
  };
}

function eventOf(event: SentEvent): Event {
  const { seq, kind, item_id, step, attempt, worker, detail } = event;
  const place = { jobId: null, itemId: item_id, step, attempt, worker };
  return { seq, at: at(event.at), kind, ...place, detail };
}

function itemOf(item: Item): ItemOf {
  return {
    ...item,
    id: item.item_id,
    corpus: item.corpus_name,
    attempt: item.attempt - 1,
    error: item.error === null ? null : JSON.stringify(item.error),
    failed_at: maybeAt(item.failed_at),
    created_at: at(item.created_at),
    moved_at: at(item.moved_at),
  };
}

function documentOf(document: Document): DocumentOf {
  return {
    ...document,
    id: document.document_id,
    corpus: document.corpus_name,
    source: document.source_url,
    chunk_count: document.chunks,
    created_at: at(document.created_at),
    updated_at: at(document.updated_at),
  };
}

function hitOf(hit: SentHit): Hit {
  return {
    chunkId: hit.chunk_id,
    text: hit.text,
    score: hit.score,
    sourceUrl: hit.source_url,
    documentId: hit.document_id,
    title: hit.title,
    heading: hit.heading,
    page: hit.page ?? null,
    highlights: hit.highlights as Hit['highlights'],
    similar: hit.similar,
    ...(hit.explanation !== undefined && {
      explanation: hit.explanation as NonNullable<Hit['explanation']>,
    }),
  };
}

interface SentCause {
  readonly cause: string;
  readonly count: number;
  readonly first_at: string;
  readonly last_at: string;
}

/** A service groups causes by code and domain; commands show them by code. */
function causesOf(causes: readonly SentCause[]): CauseRow[] {
  const byCode = new Map<string, CauseRow>();
  for (const { cause: code, count, first_at, last_at } of causes) {
    const known = byCode.get(code);
    byCode.set(code, {
      code,
      count: count + (known?.count ?? 0),
      first_at: Math.min(at(first_at), known?.first_at ?? Number.POSITIVE_INFINITY),
      last_at: Math.max(at(last_at), known?.last_at ?? 0),
    });
  }
  return [...byCode.values()].sort((one, other) => other.count - one.count);
}
