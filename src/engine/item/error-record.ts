/** What is stored and published of a failure. */
import { type Failure, failures } from '../../kernel/failure/failure.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { redact } from '../../kernel/text/redact.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { ErrorRecord, ItemRow } from '../../store/item/items.ts';

/** The name of an upload is private: it stays with the item, and is replaced in messages. */
export function withoutUploadName(message: string, source: string): string {
  return source.startsWith('upload:') ? message.replaceAll(source, 'the upload') : message;
}

/** The inbox groups failures by domain, so every failure of an address names its domain. */
function domainOf(source: string): { readonly domain?: string } {
  if (!/^https?:/i.test(source) || !URL.canParse(source)) return {};
  return { domain: new URL(source).hostname };
}

export function errorRecord(error: {
  readonly step: string;
  readonly stage: string;
  readonly failure: Failure;
  readonly message: string;
  readonly attempt: number;
  /** Null: the item was not leased. */
  readonly worker: string | null;
  readonly source: string;
  readonly now: number;
}): ErrorRecord {
  const { failure, source } = error;
  const row = failures[failure.code];
  return {
    stage: error.stage,
    step: error.step,
    code: failure.code,
    error_code: row.errorCode,
    kind: row.kind,
    message: withoutUploadName(error.message, source),
    context: {
      ...domainOf(source),
      url: withoutUploadName(redact(source), source),
      attempt: error.attempt,
      worker_id: error.worker,
      ...failure.context,
    },
    at: new Date(error.now).toISOString(),
  };
}

/** How an item ends that fails outside of a step: its stored error, and the event. */
export function failedOutside(
  row: Pick<ItemRow, 'id' | 'job_id' | 'progress' | 'source'>,
  end: {
    readonly lifecycle: Lifecycle;
    readonly failure: Failure;
    readonly attempt: number;
    readonly worker: string | null;
    readonly now: number;
  },
): { readonly attempt: number; readonly error: string; readonly event: NewEvent } {
  const { lifecycle, failure, attempt, worker, now } = end;
  const { code, message } = failure;
  const step = lifecycle.ready(row.progress)[0] ?? lifecycle.stepOf(row.progress);
  const { stage } = lifecycle.row(step);
  const { source, id: itemId, job_id: jobId } = row;
  const error = errorRecord({ step, stage, failure, message, attempt, worker, source, now });
  const detail = { code, source: error.context.url, message };
  const event = { kind: 'item_failed', jobId, itemId, step, attempt, worker, detail } as const;
  return { attempt, error: JSON.stringify(error), event };
}
