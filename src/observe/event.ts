/** The closed list of events. Streams, logs and metrics read these. */
export const eventKinds = [
  'job_accepted',
  'job_started',
  'job_waiting',
  'job_paused',
  'job_resumed',
  'job_retried',
  'job_overdue',
  'job_succeeded',
  'job_failed',
  'job_canceled',
  'step_started',
  'step_progressed',
  'step_completed',
  'step_failed',
  'retry_scheduled',
  'work_paid',
  'item_failed',
  'item_canceled',
  'item_retried',
  'item_discarded',
  'item_unchanged',
  'generation_flipped',
  'generation_superseded',
  'metadata_changed',
  'lease_lost',
  'report_refused',
  'domain_paced',
  'pages_found',
  'attachments_found',
  'document_deleted',
  'corpus_deleted',
  'corpus_reembedded',
  'corpus_shared',
  'corpus_unshared',
  'corpus_moved',
  'job_moved',
  'caller_linked',
  'caller_unlinked',
  'caller_merged',
  'batch_task_created',
  'batch_task_submitted',
  'batch_task_polled',
  'batch_task_completed',
  'batch_task_partly_completed',
  'batch_task_failed',
  'batch_task_canceled',
  'batch_task_waiting',
  'batch_task_wound_down',
  'batch_reply_odd',
  'batch_lines_resubmitted',
  'item_deferred',
  'item_woken',
  'sync_started',
  'sync_held',
  'sync_ended',
  'document_moved',
  'document_restored',
] as const;

export type EventKind = (typeof eventKinds)[number];

export interface NewEvent {
  readonly kind: EventKind;
  readonly jobId: number | null;
  readonly itemId?: number | null;
  readonly step?: string | null;
  readonly attempt?: number | null;
  readonly worker?: string | null;
  /** Model, tokens, cost, duration, code, reason: depending on the kind. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

export interface Event extends NewEvent {
  readonly seq: number;
  readonly at: number;
}

/** The kinds after which a job's stream ends. */
export const jobEnds: ReadonlySet<EventKind> = new Set([
  'job_succeeded',
  'job_failed',
  'job_canceled',
]);
