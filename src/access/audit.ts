/**
 * The audit log: a closed list of events, each with a closed list of fields. Unlisted fields are
 * dropped, so that no key and no document text can leak into it.
 */
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { CallerContext } from './caller.ts';

export const auditFields = {
  job_submitted: ['job_id', 'corpus_name', 'url_count'],
  job_completed: ['job_id', 'corpus_name'],
  job_failed: ['job_id', 'corpus_name', 'failed_stage', 'code'],
  rate_limit_hit: ['route', 'limit', 'retry_after_seconds'],
  auth_rejected: ['reason'],
  callback_refused: ['route', 'job_id', 'code', 'reason', 'unsaid'],
  corpus_searched: ['corpus_name', 'results'],
  corpus_asked: ['corpus_name', 'model', 'outcome', 'cost_cents'],
  corpus_shared: ['corpus_name', 'with', 'access'],
  corpus_unshared: ['corpus_name', 'with'],
  caller_linked: ['caller', 'identity', 'subject'],
  caller_unlinked: ['caller', 'identity', 'subject'],
  caller_merged: ['caller', 'from'],
  corpus_moved: ['caller', 'from', 'corpus_name'],
} as const;

export type AuditEvent = keyof typeof auditFields;

type FieldValue = string | number | boolean | null | undefined;

export type AuditFields<Event extends AuditEvent> = {
  readonly [Name in (typeof auditFields)[Event][number]]?: FieldValue;
};

export interface AuditRecord {
  readonly event: AuditEvent;
  readonly at: string;
  readonly caller_id: string;
  readonly caller_type: string;
  readonly tier: string | null;
  readonly [field: string]: string | number | boolean | null;
}

export interface Audit {
  emit<Event extends AuditEvent>(
    event: Event,
    caller: CallerContext,
    fields: AuditFields<Event>,
  ): void;
}

export function makeAudit(world: World, sink: (record: AuditRecord) => void): Audit {
  return {
    emit(event, caller, fields) {
      sink({
        ...listedFields(event, fields),
        event,
        at: new Date(world.now()).toISOString(),
        caller_id: caller.shownId,
        caller_type: caller.callerType,
        tier: caller.tier,
      });
    },
  };
}

function listedFields(event: AuditEvent, fields: Readonly<Record<string, FieldValue>>) {
  const listed: Record<string, string | number | boolean | null> = {};
  for (const name of auditFields[event]) {
    const value = fields[name];
    if (value === undefined) continue;
    const { fieldCharactersMax } = limits.audit;
    listed[name] = typeof value === 'string' ? value.slice(0, fieldCharactersMax) : value;
  }
  return listed;
}
