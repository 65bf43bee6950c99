/** The status of a job, in the words of the API. */

import type { Job } from '../../src/contract/schema/schema.ts';
import { jobState } from '../../src/kernel/lifecycle/job.ts';
import { stageState } from '../../src/kernel/lifecycle/stage.ts';
import { Icon } from './icon.tsx';
import { badgeOf } from './job-badge.ts';
import { count } from './wording.ts';

export function StatusIcon({ job }: { job: Job }) {
  const { icon, tone, state } = badgeOf(job);
  return (
    <span title={state}>
      <Icon name={icon} tone={tone} />
      <span className="hidden-text">{state}</span>
    </span>
  );
}

const stages = ['scraping', 'chunking', 'embedding'] as const;

/** The three stages, with the current one marked. */
export function Stages({ job }: { job: Job }) {
  const { state } = badgeOf(job);
  const place = placeOf(job);
  return (
    <div className="stages" role="img" aria-label={state}>
      {stages.map((stage, index) => (
        <i key={stage} className={classOf(job, index, place)} />
      ))}
    </div>
  );
}

function placeOf({ status, failed_stage }: Job): number {
  if (status === stageState.done) return stages.length;
  const names: readonly string[] = stages;
  return names.indexOf((status === stageState.failed ? failed_stage : status) ?? '');
}

function classOf({ status, state }: Job, index: number, place: number): string {
  if (index < place) return 'past';
  if (index > place) return '';
  if (status === stageState.failed) return 'broken';
  return state === jobState.running ? 'now' : 'still';
}

/** The share of finished documents, by outcome. */
export function Meter({ job }: { job: Job }) {
  const { items_total: total, items_done, items_failed, items_canceled } = job;
  const share = (part: number): string => `${total === 0 ? 0 : (part / total) * 100}%`;
  return (
    <span className="meter" role="img" aria-label={`${count(items_done)} of ${count(total)} done`}>
      <span style={{ width: share(items_done) }} />
      <span className="failed" style={{ width: share(items_failed) }} />
      <span className="canceled" style={{ width: share(items_canceled) }} />
    </span>
  );
}
