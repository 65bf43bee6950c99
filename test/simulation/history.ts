/** Replays the events along the kernel's tables, and checks that they lead to the stored state. */
import { item, type Progress } from '../../src/kernel/lifecycle/item.ts';
import { type JobState, job, workingStates } from '../../src/kernel/lifecycle/job.ts';
import { targets, transition } from '../../src/kernel/lifecycle/machine.ts';
import type { Event, EventKind } from '../../src/observe/event.ts';
import type { Evidence } from './evidence.ts';

interface Played {
  progress: Progress;
  state: string;
  /** The first event that the table does not allow here. */
  illegal: string | undefined;
}

/** Events that an open item may have at any time, and that do not move it. */
const tellingKinds: ReadonlySet<EventKind> = new Set([
  'step_failed',
  'retry_scheduled',
  'lease_lost',
  'generation_flipped',
  'generation_superseded',
  'metadata_changed',
  'item_deferred',
  'item_woken',
]);

const endingKinds: Partial<Record<EventKind, readonly [event: string, to: string]>> = {
  item_failed: ['fail', 'failed'],
  item_canceled: ['cancel', 'canceled'],
  item_discarded: ['discard', 'canceled'],
};

/** Items with an illegal history, or whose history ends elsewhere than their rows. */
export function illegalItemHistories({ items, events }: Evidence): string[] {
  const played = new Map<number, Played>(
    items.map(({ id }) => [id, { progress: 0, state: 'enqueued', illegal: undefined }]),
  );
  for (const event of events) {
    const one = played.get(event.itemId ?? 0);
    if (one && !one.illegal) one.illegal = playItem(one, event);
  }
  return items.flatMap(({ id, step, progress }) => {
    const one = played.get(id);
    if (one?.illegal) return [`item ${id}: ${one.illegal}`];
    if (one?.state === step && one.progress === progress) return [];
    return [
      `item ${id}: they lead to ${one?.state} (${one?.progress}), stored is ${step} (${progress})`,
    ];
  });
}

function playItem(one: Played, event: Event): string | undefined {
  const { kind, step, seq } = event;
  const where = `${kind} ${step ?? ''} at ${one.state} (${one.progress}), event ${seq}`;
  const isOpen = !item.machine.final.includes(one.state);
  // Paid work is kept, even from a worker that no longer holds the item.
  if (kind === 'report_refused' || kind === 'work_paid') return undefined;
  // Events of the last commit of an item come before its end in that commit.
  if (tellingKinds.has(kind)) return isOpen ? undefined : where;
  if (kind === 'step_started') {
    return isOpen && item.ready(one.progress).includes(step ?? '') ? undefined : where;
  }
  const ending = endingKinds[kind];
  if (ending) return move(one, ending[0], ending[1], one.progress) ? undefined : where;
  // By a person, or with its job: a restart may start from where either may.
  if (kind === 'item_retried') {
    return move(one, 'restart', item.stepOf(one.progress), one.progress) ? undefined : where;
  }
  if (kind === 'item_unchanged') {
    one.progress = item.complete;
    one.state = item.stepOf(item.complete);
    return undefined;
  }
  if (kind !== 'step_completed' || !step) return `unknown ${where}`;
  const isReady = item.ready(one.progress).includes(step);
  const progress = item.reach(one.progress, step);
  return isReady && move(one, step, item.stepOf(progress), progress) ? undefined : where;
}

function move(one: Played, event: string, to: string, progress: Progress): boolean {
  if (!targets(item.machine, one.state, event).includes(to)) return false;
  one.state = to;
  one.progress = progress;
  return true;
}

const jobEvents: Partial<Record<EventKind, (typeof job.edges)[number][0]>> = {
  job_started: 'start',
  job_waiting: 'wait',
  job_paused: 'pause',
  job_resumed: 'resume',
  job_retried: 'retry',
  job_succeeded: 'complete',
  job_failed: 'error',
  job_canceled: 'cancel',
};

export function illegalJobHistories({ jobs, events }: Evidence): string[] {
  return jobs.flatMap(({ id, state: stored }) => {
    let state: JobState = 'queued';
    for (const { jobId, kind, seq } of events) {
      const event = jobId === id ? jobEvents[kind] : undefined;
      if (!event) continue;
      const next: JobState | undefined = transition(job, state, event);
      if (!next) return [`job ${id}: ${kind} while ${state}, event ${seq}`];
      state = next;
    }
    return state === stored ? [] : [`job ${id}: the events lead to ${state}, stored is ${stored}`];
  });
}

/** Events that require a worker that holds or receives the item. */
const workKinds: ReadonlySet<EventKind> = new Set([
  'step_started',
  'step_completed',
  'step_failed',
  'retry_scheduled',
  'item_deferred',
  'item_failed',
]);

/** From the commit of a pause or cancel on, no item of the job is worked on. */
export function movesOfStoppedJobs({ jobs, events }: Evidence): string[] {
  const states = new Map<number, JobState>(jobs.map(({ id }) => [id, 'queued']));
  return events.flatMap(({ jobId, itemId, kind, seq }) => {
    const state = states.get(jobId ?? 0);
    if (jobId === null || state === undefined) return [];
    const event = jobEvents[kind];
    if (event) states.set(jobId, transition(job, state, event) ?? state);
    const isWork = workKinds.has(kind) && !workingStates.includes(state);
    return isWork ? [`item ${itemId} of job ${jobId}: ${kind} while ${state}, event ${seq}`] : [];
  });
}
