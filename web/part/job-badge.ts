/** The badge and the text of a status. */

import type { Job } from '../../src/contract/schema/schema.ts';
import { jobState } from '../../src/kernel/lifecycle/job.ts';
import type { IconName } from './icon.tsx';
import { count } from './wording.ts';

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

export const badgeOf = ({ status, state }: Job): JobBadge =>
  stateBadges[state] ?? statusBadges[status];

export function messageOf(job: Job): string {
  if (job.state === jobState.paused) return 'Paused';
  return job.partial && job.items_failed > 0
    ? `${job.message} (${count(job.items_failed)} failed)`
    : job.message;
}
