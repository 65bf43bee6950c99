/** The badge and the text of a status. */

import type { Job } from '../../src/contract/schema/schema.ts';
import { failures, isFailureCode } from '../../src/kernel/failure/failure.ts';
import { jobState } from '../../src/kernel/lifecycle/job.ts';
import { stageState } from '../../src/kernel/lifecycle/stage.ts';
import type { IconName } from './icon.tsx';
import { count, counted, duration } from './wording.ts';

export type Tone = 'plain' | 'run' | 'ok' | 'warn' | 'bad';

type JobBadge = { readonly icon: IconName; readonly tone: Tone; readonly state: string };

/** The page state for each status. */
export const statusBadges: Readonly<Record<Job['status'], JobBadge>> = {
  pending: { icon: 'waiting', tone: 'plain', state: 'Queued' },
  scraping: { icon: 'running', tone: 'run', state: 'Progress — stage 1 of 3' },
  chunking: { icon: 'running', tone: 'run', state: 'Progress — stage 2 of 3' },
  embedding: { icon: 'running', tone: 'run', state: 'Progress — stage 3 of 3' },
  done: { icon: 'done', tone: 'ok', state: 'Success' },
  failed: { icon: 'failed', tone: 'bad', state: 'Error' },
  canceled: { icon: 'canceled', tone: 'plain', state: 'Canceled' },
};

/** Takes precedence over the status: the job is paused, or waits for a retry. */
const stateBadges: Partial<Record<Job['state'], JobBadge>> = {
  paused: { icon: 'paused', tone: 'warn', state: 'Paused' },
  retry_pending: { icon: 'waiting', tone: 'warn', state: 'Waiting to retry' },
};

export function badgeOf({ status, state, items_failed }: Job): JobBadge {
  if (status === stageState.done && items_failed > 0) {
    const failed = counted(items_failed, 'failure');
    return { icon: 'warning', tone: 'warn', state: `Done with ${failed}` };
  }
  return stateBadges[state] ?? statusBadges[status];
}

/**
 * A job of one address has the message of the API. Of several documents it is said how many, and
 * what was not fetched from an address is not blamed on one.
 */
export function messageOf(job: Job): string {
  const { status, items_total: total, items_done: done, items_failed: failed } = job;
  if (job.state === jobState.paused) return 'Paused';
  if (status === stageState.failed) return failedMessageOf(job);
  if (total <= 1) return job.message;
  if (status === stageState.done) {
    const ready = `${counted(done, 'document')} ready to search`;
    return failed > 0 ? `${ready}, ${count(failed)} failed` : ready;
  }
  if (status === stageState.canceled)
    return `Canceled with ${count(done)} of ${count(total)} ready`;
  if (status === stageState.pending) return job.message;
  const broken = failed > 0 ? `, ${count(failed)} failed` : '';
  return `${count(done)} of ${count(total)} ready${broken}`;
}

function failedMessageOf({ error, message, url, items_total, items_failed }: Job): string {
  if (items_total > 1) return `${counted(items_failed, 'document')} failed, none is ready`;
  if (url !== null && /^https?:/.test(url)) return message;
  const code = error?.code ?? '';
  return isFailureCode(code) ? `${failures[code].title}. ${failures[code].advice}` : message;
}

/** How far a job is, and how long it will take. */
export function progressOf(job: Job): string {
  const { items_total: total, items_done: done, eta_seconds: eta, ended_at } = job;
  const ready = `${count(done)} of ${counted(total, 'document')} ready.`;
  if (ended_at !== null || eta === null) return ready;
  return `${ready} About ${duration(eta * 1000)} left.`;
}
