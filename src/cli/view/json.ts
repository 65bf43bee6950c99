/** The shapes that `--json` prints. Field names are those of the HTTP API. */
import type { CauseRow, CorpusRow, Event, JobSummary, Spending } from '../../index.ts';
import { type FailureCode, failures, isFailureCode } from '../../kernel/failure/failure.ts';
import { jobActions } from '../../kernel/lifecycle/job.ts';
import { warningsOf } from '../../pipeline/extract/parsed.ts';
import { attemptOf } from '../../store/item/items.ts';
import type { DocumentOf, ItemOf } from '../pawl-client.ts';

const time = (at: number | null): string | null =>
  at === null ? null : new Date(at).toISOString();

export function jobShape(job: JobSummary) {
  return {
    job_id: job.id,
    corpus_name: job.corpus,
    type: job.type,
    state: job.state,
    status: job.status,
    message: job.message,
    partial: job.partial,
    items_total: job.items.total,
    items_done: job.items.done,
    items_failed: job.items.failed,
    items_canceled: job.items.canceled,
    chunks_indexed: job.chunks,
    counters: job.counters,
    tokens: job.tokens,
    cost_cents: job.costCents,
    tokens_unpriced: job.tokensUnpriced,
    tokens_saved: job.saved.tokens,
    saved_cents: job.saved.cents,
    budget_cents: job.budgetCents,
    max_wall_seconds: job.maxWallSeconds,
    deadline_at: time(job.deadlineAt),
    pause_reason: job.pauseReason,
    failed_stage: job.failedStage,
    error: job.error,
    actions: jobActions(job.state, job.items),
    created_at: time(job.createdAt),
    started_at: time(job.startedAt),
    ended_at: time(job.endedAt),
    canceled_at: time(job.canceledAt),
  };
}

export function eventShape(event: Event, jobId: string) {
  const { seq, at, kind, itemId, step, attempt, worker, detail } = event;
  return {
    seq,
    at: time(at),
    kind,
    job_id: jobId,
    item_id: itemId ?? null,
    step: step ?? null,
    attempt: attempt ?? null,
    worker: worker ?? null,
    detail: detail ?? {},
  };
}

export function itemShape(item: ItemOf) {
  return {
    item_id: item.id,
    corpus_name: item.corpus,
    document_id: item.document_id,
    source: item.source,
    step: item.step,
    waits_on: item.waits_on,
    attempt: attemptOf(item),
    error: item.error === null ? null : JSON.parse(item.error),
    failed_at: time(item.failed_at),
    created_at: time(item.created_at),
    moved_at: time(item.moved_at),
  };
}

export function causeShape(cause: CauseRow) {
  return {
    cause: cause.code,
    count: cause.count,
    title: failureOf(cause.code).title,
    advice: failureOf(cause.code).advice,
    first_at: time(cause.first_at),
    last_at: time(cause.last_at),
  };
}

export function spendingShape(spent: Spending) {
  return {
    model: spent.model ?? null,
    next_model: spent.next_model ?? null,
    tokens: { in: spent.tokens_in, out: spent.tokens_out },
    tokens_unpriced: spent.tokens_unpriced,
    tokens_saved: spent.tokens_saved,
    cost_cents: spent.cost_cents,
    saved_cents: spent.saved_cents,
    budget_cents: spent.budget_cents ?? null,
  };
}

export function corpusShape(corpus: CorpusRow) {
  return {
    name: corpus.name,
    documents: corpus.documents,
    documents_partly_read: corpus.documents_partly_read,
    chunks: corpus.chunks,
    text_bytes: corpus.text_bytes,
    created_at: time(corpus.created_at),
    updated_at: time(corpus.updated_at),
  };
}

export function documentShape(document: DocumentOf) {
  return {
    document_id: document.id,
    corpus_name: document.corpus,
    source_url: document.source,
    title: document.title,
    generation: document.generation,
    chunks: document.chunk_count,
    text_bytes: document.text_bytes,
    kept_share: document.kept_share,
    warnings: warningsOfDocument(document),
    content_hash: document.content_hash,
    meta: document.meta,
    created_at: time(document.created_at),
    updated_at: time(document.updated_at),
  };
}

export function warningsOfDocument({ warnings, meta = {} }: DocumentOf): readonly string[] {
  return warnings ?? warningsOf(meta);
}

/** The failure table's row for a stored code. A newer Pawl may have stored a code unknown here. */
export function failureOf(code: string): { readonly title: string; readonly advice: string } {
  return failures[isFailureCode(code) ? code : ('internal_error' satisfies FailureCode)];
}
