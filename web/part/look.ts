/** What a status looks like, and the words that people read for it. */

import type { Job } from '../../src/contract/schema/schema.ts';
import { jobState } from '../../src/kernel/lifecycle/job.ts';
import type { IconName } from './icon.tsx';
import { count } from './wording.ts';

export type Tone = 'plain' | 'run' | 'ok' | 'warn' | 'bad';

type Look = { readonly icon: IconName; readonly tone: Tone; readonly state: string };

/** What each status is as a state of the page. */
export const looks: Readonly<Record<Job['status'], Look>> = {
  pending: { icon: 'waiting', tone: 'plain', state: 'Queued' },
  scraping: { icon: 'running', tone: 'run', state: 'Progress — stage 1 of 3' },
  chunking: { icon: 'running', tone: 'run', state: 'Progress — stage 2 of 3' },
  embedding: { icon: 'running', tone: 'run', state: 'Progress — stage 3 of 3' },
  done: { icon: 'done', tone: 'ok', state: 'Success' },
  failed: { icon: 'failed', tone: 'bad', state: 'Error' },
  canceled: { icon: 'canceled', tone: 'plain', state: 'Canceled' },
};

/** Over the status: a person has stopped it, or it waits for the time of a retry. */
const stateLooks: Partial<Record<Job['state'], Look>> = {
  paused: { icon: 'paused', tone: 'warn', state: 'Paused' },
  retry_pending: { icon: 'waiting', tone: 'warn', state: 'Waiting to try again' },
};

export const lookOf = ({ status, state }: Job): Look => stateLooks[state] ?? looks[status];

export function messageOf(job: Job): string {
  if (job.state === jobState.paused) return 'Paused';
  return job.partial && job.items_failed > 0
    ? `${job.message} (${count(job.items_failed)} failed)`
    : job.message;
}
