/** What is stored and published of a failure. */
import { type Failure, failures } from '../../kernel/failure/failure.ts';
import { redact } from '../../kernel/text/redact.ts';
import type { ErrorRecord } from '../../store/item/items.ts';

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
