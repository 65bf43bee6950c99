/** Jobs: submit, list, show, control. */

import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { NewJob } from '../../contract/schema/schema.ts';
import { checkPriced } from '../../engine/command/admission.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { type JobState, jobState } from '../../kernel/lifecycle/job.ts';
import { stageState } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { nextTurn } from '../../kernel/world.ts';
import { readUrl } from '../../pipeline/fetch/url.ts';
import { withMetadata } from '../../source/sidecar.ts';
import { crawlFrom, inlineSource, urlSource } from '../../source/sources.ts';
import {
  type ItemRange,
  type ItemRow,
  listItems,
  listItemsInState,
} from '../../store/item/items.ts';
import { isKeyTaken } from '../../store/job/idempotency.ts';
import { getJob, type JobRow, statusesOf } from '../../store/job/jobs.ts';
import type { NewSource } from '../../store/job/submit.ts';
import { limitOf, nextPage, numberCursor } from '../cursor.ts';
import { requestHash } from '../request-hash.ts';
import type { Ask, Service, StoreAsk, StoreHandlers, StoreService } from '../service.ts';
import { viewItems } from '../view/item.ts';
import type { JobView } from '../view/job-views.ts';
import { jobDetailShape, jobShape, timeOf } from '../view/serializer.ts';
import { countJobs, listJobs } from './job-list.ts';
import { webhookSecret } from './webhooks.ts';

export function submitRoutes(service: StoreService) {
  return { 'POST /jobs': (ask) => submit(service, ask) } satisfies Partial<StoreHandlers>;
}

export function jobRoutes(service: StoreService) {
  const { database } = service;
  return {
    'GET /jobs': async ({ caller, query }) => {
      const corpus = await fullName(service, caller.callerId, query.corpus_name);
      const { rows, before } = await listJobs(service, {
        caller: caller.callerId,
        corpus,
        group: query.group,
        text: query.text,
        state: query.state,
        status: query.status,
        failedStage: query.failed_stage,
        createdFrom: timeIn(query.created_after),
        createdBefore: timeIn(query.created_before),
        before: numberCursor(query) ?? Number.MAX_SAFE_INTEGER,
        limit: limitOf(query),
      });
      const now = database.now();
      return {
        items: rows.map(({ row, status }) => jobShape(row, status, now)),
        ...(query.counts && { counts: await countJobs(database, caller.callerId, corpus) }),
        next_cursor: before === null ? null : String(before),
      };
    },
    'GET /jobs/:id': async ({ caller, params }) => {
      const view = await ownJobView(service, caller.callerId, params.id);
      return jobDetailShape(view, database.now());
    },
    'GET /jobs/:id/items': async ({ caller, params, query }) => {
      const { id: jobId } = await ownJob(service, caller.callerId, params.id);
      const limit = limitOf(query);
      const after = numberCursor(query) ?? 0;
      const { state } = query;
      if (state !== undefined) return listInState(service, { jobId, state, after, limit });
      const rows = await listItems(database, { jobId, after, limit });
      return { items: await viewItems(service, rows), ...nextPage(rows, limit, ({ id }) => id) };
    },
  } satisfies Partial<StoreHandlers>;
}

/** Reads range by range, so that a search for few among many does not hold the event loop. */
async function listInState(
  service: StoreService,
  { jobId, state, after, limit }: Omit<ItemRange, 'scanned'>,
) {
  const { itemsScannedAtOnce: scanned, itemsScannedMax } = limits.request;
  const rows: ItemRow[] = [];
  let from: number | undefined = after;
  for (let seen = 0; from !== undefined && seen < itemsScannedMax; seen += scanned) {
    const left = limit - rows.length;
    const range = { jobId, state, after: from, limit: left, scanned };
    const found = await listItemsInState(service.database, range);
    rows.push(...found.rows);
    from = found.last;
    if (rows.length === limit) break;
    await nextTurn(service.world);
  }
  const next_cursor = from === undefined ? null : String(from);
  return { items: await viewItems(service, rows), next_cursor };
}

export function steeringRoutes(service: StoreService) {
  const { commands, jobs } = service;
  return {
    'POST /jobs/:id/cancel': async ({ caller, params }) => {
      const receipt = await commands.cancel(caller.callerId, params.id);
      await jobs.refresh(params.id);
      const row = await ownJob(service, caller.callerId, params.id);
      return {
        job_id: row.key,
        state: 'canceled',
        canceled_at: timeOf(row.canceled_at ?? row.updated_at),
        stopped: { items: receipt.itemsCanceled },
        kept: {
          items: receipt.itemsDone,
          documents: row.documents_emitted,
          chunks: row.chunks_indexed,
        },
        spent: {
          cost_cents: row.cost_cents,
          tokens: { in: row.tokens_in, out: row.tokens_out },
        },
      };
    },
    'POST /jobs/:id/pause': async ({ caller, params }) => {
      await commands.pause(caller.callerId, params.id);
      await jobs.refresh(params.id);
      return moved(await ownJob(service, caller.callerId, params.id));
    },
    'POST /jobs/:id/resume': async ({ caller, params, body }) => {
      const budgetCents = body.budget_cents;
      if (budgetCents !== undefined) checkPriced(service);
      await commands.resume(caller.callerId, params.id, budgetCents);
      await jobs.refresh(params.id);
      return moved(await ownJob(service, caller.callerId, params.id));
    },
    'POST /jobs/:id/retry': async ({ caller, params }) => {
      const job = await ownJob(service, caller.callerId, params.id);
      await service.corpora.find(caller.callerId, job.corpus, 'write');
      const retried = await commands.retry(caller.callerId, params.id);
      await jobs.refresh(params.id);
      const row = await ownJob(service, caller.callerId, params.id);
      return { ...moved(row), items_retried: retried };
    },
  } satisfies Partial<StoreHandlers>;
}

function moved({ key, state }: JobRow): { job_id: string; state: JobState } {
  return { job_id: key, state };
}

/** A job of another caller is answered as unknown. */
export async function ownJob(
  { database }: Pick<Service, 'database'>,
  caller: string,
  key: string,
): Promise<JobRow> {
  const row = await getJob(database, key);
  if (row?.caller === caller) return row;
  throw unknownJob(key);
}

/** A shared view may predate the last change of the job. */
async function ownJobView(service: StoreService, caller: string, key: string): Promise<JobView> {
  const shown = await service.jobs.read(key);
  if (shown?.row.caller === caller) return shown;
  if (!shown) throw unknownJob(key);
  await ownJob(service, caller, key);
  await service.jobs.refresh(key);
  const view = await service.jobs.read(key);
  if (view?.row.caller === caller) return view;
  throw unknownJob(key);
}

/** The corpus name in the form that jobs and items show. */
export async function fullName(
  { corpora }: Pick<Service, 'corpora'>,
  caller: string,
  name: string | undefined,
): Promise<string | undefined> {
  return name === undefined ? undefined : corpora.fullName(caller, name);
}

function unknownJob(key: string): Failure {
  return new Failure('job_unknown', `there is no job ${key}`);
}

async function submit(service: StoreService, ask: StoreAsk<'POST /jobs'>) {
  const { body, caller, log } = ask;
  if (body.budget_cents !== undefined) checkPriced(service);
  const sources = withMetadata(await sourcesOf(body), body.metadata);
  await checkCapacity(service, ask);
  const { name: corpus } = await service.corpora.target(
    caller.callerId,
    body.corpus_name ?? limits.corpus.nameDefault,
  );
  const { crawl } = body;
  const { jobKey, isReplayed } = await service.commands.submit({
    caller: caller.callerId,
    corpus,
    submitter: { type: caller.callerType, tier: caller.tier },
    sources,
    crawl: crawl && crawlFrom(sources, crawl),
    priority: body.priority,
    force: body.force,
    lane: body.lane,
    budgetCents: body.budget_cents,
    maxWallSeconds: body.max_wall_seconds,
    webhookUrl: webhookOf(service, body),
    idempotency: await idempotencyOf(ask.headers['idempotency-key'], body),
  });
  log.info({ job_id: jobKey, caller_id: caller.shownId, replayed: isReplayed }, 'job submitted');
  return accepted(service, ask, { jobKey, isReplayed, corpus, sources });
}

/** An accepted request is answered again, even if the queues are full now. */
export async function checkCapacity(
  { capacity, database }: Pick<Service, 'capacity' | 'database'>,
  { caller, headers }: Pick<Ask<'POST /jobs'>, 'caller' | 'headers'>,
): Promise<void> {
  try {
    await capacity.check();
  } catch (error) {
    const key = headers['idempotency-key'];
    const taken = { caller: caller.callerId, key: key ?? '', now: database.now() };
    const isFull = error instanceof Failure && error.code === 'queue_full';
    if (!isFull || key === undefined || !(await isKeyTaken(database, taken))) throw error;
  }
}

/** The URL is parsed as for the delivery, so that an invalid one is refused now. */
function webhookOf(service: StoreService, { webhook_url }: NewJob): string | undefined {
  if (webhook_url === undefined) return undefined;
  webhookSecret(service);
  return readUrl(webhook_url).href;
}

interface Accepted {
  readonly jobKey: string;
  readonly isReplayed: boolean;
  readonly corpus: string;
  readonly sources: readonly NewSource[];
}

/** A repeated request is answered with the current state of its job. */
export async function accepted(
  { audit, capacity, database, lifecycle }: StoreService,
  { caller, reply }: Pick<StoreAsk<'POST /jobs'>, 'caller' | 'reply'>,
  { jobKey, isReplayed, corpus, sources: { length } }: Accepted,
) {
  const answer = { job_id: jobKey, url_count: length };
  if (!isReplayed) {
    capacity.accepted(length);
    audit.emit('job_submitted', caller, { ...answer, corpus_name: corpus });
    return { ...answer, status: stageState.pending, state: jobState.queued };
  }
  reply.header('idempotency-replayed', 'true');
  const row = await getJob(database, jobKey);
  if (!row) throw unknownJob(jobKey);
  const [status = stageState.pending] = await statusesOf(database, [row], lifecycle);
  return { ...answer, status, state: row.state };
}

const ways = ['url', 'urls', 'documents', 'crawl'] as const;

/** One source each, in the order of the request. Long lists yield to the event loop. */
async function sourcesOf(body: NewJob): Promise<NewSource[]> {
  const named = ways.filter((way) => body[way] !== undefined);
  if (named.length !== 1) {
    const found = named.length === 0 ? 'none' : named.join(' and ');
    const message = `send exactly one of ${ways.join(', ')}; the request has ${found}`;
    throw new Failure(named.length === 0 ? 'sources_empty' : 'bad_request', message);
  }
  const { url, urls = [], documents = [], crawl } = body;
  const addresses = [...urls, ...(url === undefined ? [] : [url]), ...(crawl ? [crawl.url] : [])];
  const sources = new Map<string, NewSource>();
  const slice = new TimeSlice();
  for (const entry of [...addresses, ...documents]) {
    if (slice.isOver) await slice.next();
    const source = typeof entry === 'string' ? urlSource(entry) : documentSource(entry);
    sources.set(source.source, source);
  }
  return [...sources.values()];
}

function documentSource({ source_url, ...document }: NewDocument): NewSource {
  return inlineSource({ ...document, sourceUrl: source_url });
}

type NewDocument = NonNullable<NewJob['documents']>[number];

/** Printable ASCII: safe in headers and logs. */
const keyPattern = /^[\x20-\x7e]+$/;

export async function idempotencyOf(key: string | undefined, request: unknown) {
  if (key === undefined) return undefined;
  const { idempotencyKeyCharactersMax: max } = limits.job;
  if (key.length > max || !keyPattern.test(key)) {
    const message = `an Idempotency-Key must have 1 to ${max} printable ASCII characters`;
    throw new Failure('bad_request', message);
  }
  return { key, hash: await requestHash(request) };
}

/** The contract has validated its form. */
const timeIn = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text);
