/**
 * The statuses of one job for one client: one message with the job per change. Statuses that the
 * job passed through between two reads are derived from the events, so none is skipped.
 */

import type { Job } from '../../contract/schema/schema.ts';
import { jobMessage } from '../../kernel/job-message.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { jobState } from '../../kernel/lifecycle/job.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import {
  type StageState,
  stage as stageMachine,
  stageState,
} from '../../kernel/lifecycle/stage.ts';
import type { Event } from '../../observe/event.ts';
import { timeOf } from '../view/serializer.ts';
import type { JobSnapshot } from './job-status-reader.ts';

export class JobStatuses {
  readonly #lifecycle: Lifecycle;
  /** Statuses derived from events, each with the time of the first. */
  readonly #passed = new Map<StageState, number>();
  #sent: StageState | undefined;

  constructor(lifecycle: Lifecycle) {
    this.#lifecycle = lifecycle;
  }

  /** Applies an event. Returns true if the job may have another status now. */
  see(event: Event): boolean {
    if (event.kind === 'job_retried') {
      this.#passed.clear();
      this.#sent = undefined;
    }
    for (const status of this.#shownBy(event)) {
      if (!this.#passed.has(status)) this.#passed.set(status, event.at);
    }
    return this.#isChange(event);
  }

  /** The messages that bring a client up to date. All events before the read have been applied. */
  tell(job: JobSnapshot): string {
    const { status, row } = job;
    if (status === this.#sent) return '';
    const from = this.#sent === undefined ? -1 : rankOf(this.#sent);
    const between = [...this.#passed]
      .filter(([passed]) => rankOf(passed) > from && rankOf(passed) < rankOf(status))
      .sort(([one], [other]) => rankOf(one) - rankOf(other));
    this.#sent = status;
    return [
      ...between.map(([passed, at]) => {
        const state = passed === stageState.pending ? jobState.queued : jobState.running;
        return messageOf(shapeOf(row, { status: passed, state, at }));
      }),
      messageOf(shapeOf(row, { status, state: row.state, at: row.updated_at })),
    ].join('');
  }

  #shownBy({ kind, step }: Event): StageState[] {
    if (kind === 'job_accepted' || kind === 'job_retried') return ['pending'];
    const { steps } = this.#lifecycle;
    const place = steps.findIndex((row) => row.step === step);
    const own = steps[place]?.stage;
    if (own === undefined) return [];
    if (kind === 'item_failed' || kind === 'step_failed') return [own];
    return kind === 'step_completed' ? [own, steps[place + 1]?.stage ?? own] : [];
  }

  #isChange(event: Event): boolean {
    if (event.kind === 'step_completed') return new Set(this.#shownBy(event)).size > 1;
    return /^(job|item)_|_found$/.test(event.kind);
  }
}

/** The order of statuses; all final ones are last. */
function rankOf(status: StageState): number {
  const { states } = stageMachine;
  return isFinal(stageMachine, status) ? states.length : states.indexOf(status);
}

/** A job as a stream sends it: its state, its progress, and its failure. */
export type StreamedJob = Pick<Job, StreamedField>;

type StreamedField =
  | ('job_id' | 'status' | 'state' | 'message' | 'url' | 'corpus_name')
  | ('failed_stage' | 'error' | 'created_at' | 'updated_at');

interface StatusSnapshot extends Pick<Job, 'status' | 'state'> {
  readonly at: number;
}

function shapeOf(row: JobSnapshot['row'], { status, state, at }: StatusSnapshot): StreamedJob {
  const error = status === stageState.failed && row.error !== null ? JSON.parse(row.error) : null;
  return {
    job_id: row.key,
    status,
    state,
    message: jobMessage(status, error),
    url: row.url,
    corpus_name: row.corpus,
    ...(error !== null && { failed_stage: row.failed_stage ?? error.stage, error }),
    created_at: timeOf(row.created_at),
    updated_at: timeOf(at),
  };
}

const messageOf = (job: StreamedJob): string => `data: ${JSON.stringify(job)}\n\n`;
