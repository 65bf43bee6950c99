/** Converts store rows to the schemas of the contract. */

import type * as schema from '../../contract/schema/schema.ts';
import { failures, isFailureCode } from '../../kernel/failure/failure.ts';
import { jobMessage } from '../../kernel/job-message.ts';
import { item as itemLifecycle, type Lifecycle } from '../../kernel/lifecycle/item.ts';
import { itemActions, place } from '../../kernel/lifecycle/item-wait.ts';
import { jobState } from '../../kernel/lifecycle/job.ts';
import { type StageState, stageState } from '../../kernel/lifecycle/stage.ts';
import { type Metadata, readMetadata } from '../../kernel/metadata/metadata.ts';
import type { Event as EngineEvent } from '../../observe/event.ts';
import { warningsOf } from '../../pipeline/extract/parsed.ts';
import type { Explanation, Hit as Passage } from '../../search/search.ts';
import type { ShareRow } from '../../store/corpus/access.ts';
import type { CorpusSettings } from '../../store/corpus/settings.ts';
import type { ChunkRow, NewChunk } from '../../store/document/chunks.ts';
import type { CorpusRow, DocumentRow, Meta } from '../../store/document/documents.ts';
import type { CauseRow, FingerprintRow } from '../../store/item/inbox.ts';
import { attemptOf, type ItemRow } from '../../store/item/items.ts';
import { countersOf, workedMs } from '../../store/job/counters.ts';
import { actionsOfJob, isPartialJob, type JobRow } from '../../store/job/jobs.ts';
import type { StandingRow } from '../../store/job/views.ts';
import type { SpendingRow } from '../../store/money/spending.ts';
import { etaSeconds } from './eta.ts';
import type { JobView } from './job-views.ts';

export const timeOf = (at: number): string => new Date(at).toISOString();
export const maybeTimeOf = (at: number | null): string | null => (at === null ? null : timeOf(at));

export function jobShape(row: JobRow, status: StageState, now: number): schema.Job {
  const processed = processedOf(row);
  const error = row.error === null ? null : JSON.parse(row.error);
  return {
    job_id: row.key,
    status,
    state: row.state,
    message: jobMessage(status, error),
    type: row.type,
    url: row.url,
    corpus_name: row.corpus,
    priority: row.priority,
    lane: row.lane,
    partial: isPartialJob(row),
    items_total: row.items_total,
    items_done: row.items_done,
    items_failed: row.items_failed,
    items_canceled: row.items_canceled,
    items_waiting: row.items_waiting,
    chunks_indexed: row.chunks_indexed,
    eta_seconds: etaSeconds({
      open: row.items_total - processed,
      ends: processed + row.items_retried,
      workedMs: workedMs(row, now),
      isMoving: row.state === jobState.running,
    }),
    counters: countersOf(row, now),
    cost_cents: row.cost_cents,
    tokens: { in: row.tokens_in, out: row.tokens_out },
    tokens_unpriced: row.tokens_unpriced,
    tokens_saved: row.tokens_saved,
    saved_cents: row.saved_cents,
    budget_cents: row.budget_cents,
    pause_reason: row.pause_reason,
    max_wall_seconds: row.max_wall_seconds,
    deadline_at: maybeTimeOf(row.deadline_at),
    actions: actionsOfJob(row),
    ...lastErrorOf(row.error),
    ...(status === stageState.failed && {
      ...(row.failed_stage !== null && { failed_stage: row.failed_stage }),
      ...(error !== null && { error }),
    }),
    created_at: timeOf(row.created_at),
    updated_at: timeOf(row.updated_at),
    started_at: maybeTimeOf(row.started_at),
    ended_at: maybeTimeOf(row.ended_at),
    canceled_at: maybeTimeOf(row.canceled_at),
  };
}

/** Null if nothing has failed, or if the failed step has succeeded since. */
function lastErrorOf(json: string | null) {
  const { kind = null, code = null } = json === null ? {} : JSON.parse(json);
  return { last_error_kind: kind, last_error_code: code };
}

function processedOf(row: JobRow): number {
  return row.items_done + row.items_failed + row.items_canceled;
}

export function jobDetailShape(
  view: Pick<JobView, 'row' | 'status' | 'standings' | 'causes' | 'partlyRead'>,
  now: number,
): schema.JobDetail {
  const { row, status, standings, causes, partlyRead } = view;
  const open = standings.filter(({ is_open }) => is_open === 1);
  const due = open.flatMap(({ due_at }) => due_at ?? []);
  const steps: Record<string, number> = {};
  for (const { step, count } of standings) steps[step] = (steps[step] ?? 0) + count;
  return {
    ...jobShape(row, status, now),
    counters: { ...countersOf(row, now), steps },
    items_unchanged: Math.max(row.items_done - row.documents_emitted, 0),
    documents_partly_read: partlyRead,
    causes: causes.map(jobCauseShape),
    ...lastErrorOfWaiting(open),
    attempt: Math.max(row.attempt, ...open.map(({ attempt }) => 1 + attempt)),
    next_retry_at: maybeTimeOf(due.length === 0 ? null : Math.min(...due)),
  };
}

export function jobCauseShape({ code, count, first_at, last_at }: CauseRow) {
  const { title, advice } = failureOf(code);
  const times = { first_at: timeOf(first_at), last_at: timeOf(last_at) };
  return { cause: code, count, title, advice, ...times };
}

/** While other items are running, a job has no last error of its own. */
function lastErrorOfWaiting(open: readonly StandingRow[]) {
  const code = open.flatMap(({ waiting_code }) => waiting_code ?? [])[0];
  if (code === undefined) return undefined;
  const kind = isFailureCode(code) ? failures[code].kind : null;
  return { last_error_kind: kind, last_error_code: code };
}

/** Fields of an item that need more than its row. */
export interface ItemExtras {
  readonly jobKey: string;
  readonly explanation: string;
  readonly working: schema.Item['working'];
  readonly lifecycle?: Lifecycle;
}

export function itemShape(row: ItemRow, extras: ItemExtras): schema.Item {
  const { jobKey, explanation, working, lifecycle = itemLifecycle } = extras;
  // The cause of a pending retry is not an error of the item yet.
  const error = row.error === null || row.waits_on !== null ? null : JSON.parse(row.error);
  const attempt = attemptOf(row);
  // Without an error, it waits for the pace of its site.
  const isRetry = row.waits_on === place.time && row.error !== null;
  return {
    item_id: row.id,
    job_id: jobKey,
    corpus_name: row.corpus,
    document_id: row.document_id,
    source: row.source,
    source_kind: row.source_kind,
    step: row.step,
    reached: lifecycle.steps
      .filter(({ step }) => lifecycle.isReached(row.progress, step))
      .map(({ step }) => step),
    waits_on: row.waits_on,
    lease: row.worker === null ? null : { worker: row.worker, epoch: row.epoch },
    working,
    attempt,
    retry_count: Math.max(attempt - 1, 0),
    ...lastErrorOf(row.error),
    next_retry_at: isRetry ? maybeTimeOf(row.due_at) : null,
    error,
    advice: error === null ? null : failureOf(error.code).advice,
    explanation,
    cost_cents: row.cost_cents,
    tokens: { in: row.tokens_in, out: row.tokens_out },
    actions: itemActions(row),
    failed_at: maybeTimeOf(row.failed_at),
    created_at: timeOf(row.created_at),
    moved_at: timeOf(row.moved_at),
  };
}

/**
 * What the events of a job imply for its status, so that a client that watches one job needs no
 * second request.
 */
const statusOfKind: Partial<Record<EngineEvent['kind'], StageState>> = {
  job_accepted: 'pending',
  job_retried: 'pending',
  job_succeeded: 'done',
  job_failed: 'failed',
  job_canceled: 'canceled',
};

export function eventShape(event: EngineEvent, jobKey: string | null): schema.Event {
  const { seq, at, kind, itemId, step, attempt, worker, detail } = event;
  return {
    seq,
    at: timeOf(at),
    kind,
    ...(statusOfKind[kind] && { status: statusOfKind[kind] }),
    job_id: jobKey,
    item_id: itemId ?? null,
    step: step ?? null,
    attempt: attempt ?? null,
    worker: worker ?? null,
    detail: detail ?? {},
  };
}

export function causeShape({ code, domain, count, ...row }: FingerprintRow): schema.Cause {
  const { title, advice } = failureOf(code);
  const documents = count === 1 ? 'document' : 'documents';
  const from = domain === null ? '' : ` from ${domain}`;
  return {
    cause: code,
    fingerprint: domain === null ? code : `${code}@${domain}`,
    domain,
    count,
    sentence: `${count.toLocaleString('en-US')} ${documents}: ${code}${from}`,
    title,
    advice,
    first_at: timeOf(row.first_at),
    last_at: timeOf(row.last_at),
  };
}

export function corpusShape(row: CorpusRow): schema.Corpus {
  return {
    name: row.name,
    documents: row.documents,
    documents_partly_read: row.documents_partly_read,
    chunks: row.chunks,
    text_bytes: row.text_bytes,
    created_at: timeOf(row.created_at),
    updated_at: maybeTimeOf(row.updated_at),
  };
}

export function corpusDetailShape(
  row: CorpusRow,
  { tokens_in, tokens_out, ...spent }: SpendingRow,
  {
    shares,
    ...settings
  }: Omit<CorpusSettings, 'chunking'> & {
    readonly chunk_tokens: number;
    readonly chunk_overlap_tokens: number;
    readonly documents_to_chunk: number;
    readonly access: schema.CorpusDetail['access'];
    readonly shares: readonly ShareRow[];
  },
): schema.CorpusDetail {
  return {
    ...corpusShape(row),
    ...settings,
    shares: shares.map(shareShape),
    ...spent,
    tokens: { in: tokens_in, out: tokens_out },
  };
}

export function shareShape({ caller, name, access, created_at }: ShareRow): schema.Share {
  return { caller_id: caller, name, access, created_at: timeOf(created_at) };
}

export function documentShape(
  row: Omit<DocumentRow, 'metadata'> & { readonly metadata: Metadata | string | null },
  meta: Meta,
): schema.Document {
  const { metadata } = row;
  // They have fields of their own.
  const { kept_share: _, warnings, ...told } = meta;
  return {
    document_id: row.id,
    corpus_name: row.corpus,
    source_url: row.source,
    title: row.title,
    language: row.language,
    generation: row.generation,
    chunks: row.chunk_count,
    text_bytes: row.text_bytes,
    kept_share: row.kept_share,
    warnings: [...warningsOf(meta)],
    content_hash: row.content_hash,
    metadata: typeof metadata === 'object' && metadata ? metadata : readMetadata(metadata),
    meta: told,
    created_at: timeOf(row.created_at),
    updated_at: timeOf(row.updated_at),
  };
}

export function chunkShape(row: ChunkRow): schema.Chunk {
  return {
    chunk_id: row.key,
    ordinal: row.ordinal,
    heading: row.heading,
    text: row.text,
    start_offset: row.start_offset,
    end_offset: row.end_offset,
    tokens: row.token_count,
    page: row.page,
  };
}

/** A chunk that is not stored. */
export function cutShape({ key, ordinal, heading, text, ...rest }: NewChunk) {
  return {
    chunk_id: key,
    ordinal,
    heading,
    start_offset: rest.startOffset,
    end_offset: rest.endOffset,
    tokens: rest.tokenCount,
    ...(rest.page !== undefined && { page: rest.page }),
    text,
  };
}

export function hitShape(hit: Passage, corpusName: string): schema.Hit {
  return {
    chunk_id: hit.chunkId,
    corpus_name: corpusName,
    text: hit.text,
    score: hit.score,
    relevance: hit.relevance,
    near: hit.near,
    source_url: hit.sourceUrl,
    document_id: hit.documentId,
    title: hit.title,
    heading: hit.heading,
    page: hit.page,
    ordinal: hit.ordinal,
    highlights: [...hit.highlights],
    similar: hit.similar,
    metadata: hit.metadata,
    more_in_document: hit.moreInDocument,
    ...(hit.passages && { passages: hit.passages.map((one) => hitShape(one, corpusName)) }),
    ...(hit.explanation && { explanation: explanationShape(hit.explanation) }),
  };
}

function explanationShape({
  parts,
  terms,
  feedbackTerms,
  weights,
}: Explanation): NonNullable<schema.Hit['explanation']> {
  const lists = { parts: [...parts], terms: [...terms], feedbackTerms: [...feedbackTerms] };
  return { ...lists, weights: { ...weights } };
}

/** The failure table's row for a stored code. A newer Pawl may have stored a code unknown here. */
export function failureOf(code: string): { readonly title: string; readonly advice: string } {
  return failures[isFailureCode(code) ? code : 'internal_error'];
}
