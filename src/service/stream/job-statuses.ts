/**
 * The statuses of one job as one client is sent them: each change as a message with the job. What a
 * job passed through between two looks is known from the events, and is not left out.
 */

import type { Job } from '../../contract/schema/schema.ts';
import { jobMessage } from '../../kernel/job-message.ts';
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import { type StageState, stage as stageMachine } from '../../kernel/lifecycle/stage.ts';
import type { Event } from '../../observe/event.ts';
import { timeOf } from '../view/serializer.ts';
import type { LookedJob } from './job-status-reader.ts';

export class JobStatuses {
  readonly #lifecycle: Lifecycle;
  /** Statuses that events have shown, each with the time of the first. */
  readonly #passed = new Map<StageState, number>();
  #told: StageState | undefined;

  constructor(lifecycle: Lifecycle) {
    this.#lifecycle = lifecycle;
  }

  /** Notes what an event says. True: the job may have another status now. */
  see(event: Event): boolean {
    if (event.kind === 'job_retried') {
      this.#passed.clear();
      this.#told = undefined;
    }
    for (const status of this.#shownBy(event)) {
      if (!this.#passed.has(status)) this.#passed.set(status, event.at);
    }
    return this.#isChange(event);
  }

  /** The messages that bring a client up to date. All events before the look have been seen. */
  tell(job: LookedJob): string {
    const { status, row } = job;
    if (status === this.#told) return '';
    const from = this.#told === undefined ? -1 : rankOf(this.#told);
    const between = [...this.#passed]
      .filter(([passed]) => rankOf(passed) > from && rankOf(passed) < rankOf(status))
      .sort(([one], [other]) => rankOf(one) - rankOf(other));
    this.#told = status;
    return [
      ...between.map(([passed, at]) => {
        const state = passed === 'pending' ? 'queued' : 'running';
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

/** The place on the way; all ends are the last. */
function rankOf(status: StageState): number {
  const { states } = stageMachine;
  return isFinal(stageMachine, status) ? states.length : states.indexOf(status);
}

/** A job as a stream sends it: what it is, how far it is, and why it failed. */
export type StreamedJob = Pick<Job, StreamedField>;

type StreamedField =
  | ('job_id' | 'status' | 'state' | 'message' | 'url' | 'corpus_name')
  | ('failed_stage' | 'error' | 'created_at' | 'updated_at');

interface Told extends Pick<Job, 'status' | 'state'> {
  readonly at: number;
}

function shapeOf(row: LookedJob['row'], { status, state, at }: Told): StreamedJob {
  const error = status === 'failed' && row.error !== null ? JSON.parse(row.error) : null;
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
