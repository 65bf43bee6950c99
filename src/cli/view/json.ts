/** The shapes that `--json` prints. Field names are those of the HTTP API. */
import type { Event, JobSummary, Spending } from '../../index.ts';
import { jobActions } from '../../kernel/lifecycle/job.ts';
import { warningsOf } from '../../pipeline/extract/parsed.ts';
import { maybeTimeOf } from '../../service/view/serializer.ts';
import { attemptOf } from '../../store/item/items.ts';
import type { DocumentOf, ItemOf } from '../pawl-client.ts';

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
    deadline_at: maybeTimeOf(job.deadlineAt),
    pause_reason: job.pauseReason,
    failed_stage: job.failedStage,
    error: job.error,
    actions: jobActions(job.state, job.items),
    created_at: maybeTimeOf(job.createdAt),
    started_at: maybeTimeOf(job.startedAt),
    ended_at: maybeTimeOf(job.endedAt),
    canceled_at: maybeTimeOf(job.canceledAt),
  };
}

export function eventShape(event: Event, jobId: string) {
  const { seq, at, kind, itemId, step, attempt, worker, detail } = event;
  return {
    seq,
    at: maybeTimeOf(at),
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
    failed_at: maybeTimeOf(item.failed_at),
    created_at: maybeTimeOf(item.created_at),
    moved_at: maybeTimeOf(item.moved_at),
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
    created_at: maybeTimeOf(document.created_at),
    updated_at: maybeTimeOf(document.updated_at),
  };
}

export function warningsOfDocument({ warnings, meta = {} }: DocumentOf): readonly string[] {
  return warnings ?? warningsOf(meta);
}
