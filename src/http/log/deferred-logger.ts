/** The log for parts that start before the server, which owns the log; and the audit log. */
import type { FastifyBaseLogger } from 'fastify';
import type { Audit, AuditRecord } from '../../access/audit.ts';
import { callerTypes, localCaller } from '../../access/caller.ts';
import type { EndRow } from '../../store/delivery/deliveries.ts';
import type { LogOptions } from './logger.ts';

type OnError = (what: string, error: unknown) => void;

export class LateLogger {
  readonly #onError: OnError | undefined;
  #log: FastifyBaseLogger | undefined;
  #audits: LogOptions | undefined;

  constructor(onError: OnError | undefined) {
    this.#onError = onError;
  }

  /** With remote callers, audits are written at every log level, unless the log is off. */
  open(log: FastifyBaseLogger, audits: LogOptions | undefined): void {
    this.#log = log;
    this.#audits = audits?.level === 'silent' ? undefined : audits;
  }

  readonly failed: OnError = (what, error) => {
    const message = 'background work failed and will be retried';
    this.#log?.error({ err: error, what }, message);
    this.#onError?.(what, error);
  };

  audit({ at, ...record }: AuditRecord): void {
    if (!this.#audits) return void this.#log?.info(record, 'audit');
    this.#audits.write(`${JSON.stringify({ level: 'audit', time: at, ...record })}\n`);
  }

  error(message: string, error?: unknown): void {
    this.#log?.error({ err: error }, message);
  }

  warn(message: string): void {
    this.#log?.warn(message);
  }

  info(message: string): void {
    this.#log?.info(message);
  }

  debug(message: string): void {
    this.#log?.debug(message);
  }
}

/** The caller at the time when the job was accepted. */
export function auditEnd(audit: Audit, end: EndRow): void {
  const { caller: callerId, caller_name, caller_type, caller_tier: tier } = end;
  const shownId = caller_name ?? callerId;
  const callerType = callerTypes.find((type) => type === caller_type) ?? 'unknown';
  const caller = { ...localCaller, callerId, shownId, callerType, tier };
  const job = { job_id: end.key, corpus_name: end.corpus };
  if (end.kind === 'job_succeeded') audit.emit('job_completed', caller, job);
  if (end.kind !== 'job_failed') return;
  const { code } = end.error === null ? { code: undefined } : JSON.parse(end.error);
  audit.emit('job_failed', caller, { ...job, failed_stage: end.failed_stage, code });
}
