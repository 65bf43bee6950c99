/** The invariants: each is a function from the evidence to its violations. */
import { item } from '../../src/kernel/lifecycle/item.ts';
import { jobEventFor, job as jobMachine } from '../../src/kernel/lifecycle/job.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import type { JobRow } from '../../src/store/job/jobs.ts';
import { poisonWord } from './content.ts';
import type { Evidence, StoredItem } from './evidence.ts';
import { illegalItemHistories, illegalJobHistories, movesOfStoppedJobs } from './history.ts';
import { everyAnswerIsChargedOnce, noLineOutlivesItsItem, nothingIsPaidTwice } from './paid.ts';

export type Invariant = (evidence: Evidence) => readonly string[];

/** At every moment between two commits. */
export const always = { jobsCountTheirItems, jobsFollowTheirItems, pausedJobsRest };

/** When the faults have stopped and everything has had its time. */
export const final: Readonly<Record<string, Invariant>> = {
  everyItemEnds,
  everyAcknowledgedItemExists,
  everyStepCompletesOnce,
  noInnocentIsBlamed,
  eventsHaveNoGaps,
  itemHistoriesAreLegal: illegalItemHistories,
  jobHistoriesAreLegal: illegalJobHistories,
  stoppedJobsStandStill: movesOfStoppedJobs,
  everySweepEnds,
  progressNeverShrinks,
  epochsNeverShrink,
  gatesHold,
  nothingIsLeftBehind,
  theNewestContentIsCurrent,
  everyJobEnds,
  nothingIsPaidTwice,
  everyAnswerIsChargedOnce,
  noLineOutlivesItsItem,
};

function everyItemEnds({ items }: Evidence): string[] {
  return items
    .filter(({ step }) => !item.machine.final.includes(step))
    .map((row) => `item ${row.id} is ${row.step}, waits on ${row.waits_on}, worker ${row.worker}`);
}

function everySweepEnds({ jobs }: Evidence): string[] {
  return jobs
    .filter(({ sweep }) => sweep !== null)
    .map(({ id, sweep }) => `the ${sweep} of job ${id} is not carried out`);
}

function everyAcknowledgedItemExists({ acknowledged, items, jobs }: Evidence): string[] {
  const stored = new Set(items.map(({ id, job_id, caller }) => `${id} ${job_id} ${caller}`));
  const jobIds = new Map(jobs.map(({ key, id }) => [key, id]));
  return acknowledged.flatMap(({ jobKey, caller, itemIds }) =>
    itemIds
      .filter((id) => !stored.has(`${id} ${jobIds.get(jobKey)} ${caller}`))
      .map((id) => `item ${id} of job ${jobKey} was acknowledged, and is not there`),
  );
}

function everyStepCompletesOnce({ events }: Evidence): string[] {
  const seen = new Set<string>();
  return events.flatMap(({ kind, itemId, step, seq }) => {
    if (kind !== 'step_completed') return [];
    const key = `${itemId} ${step}`;
    if (seen.has(key)) return [`item ${itemId} completed ${step} again, event ${seq}`];
    seen.add(key);
    return [];
  });
}

export function isBlamed({ error }: StoredItem): boolean {
  return error !== null && JSON.parse(error).code === 'crashed_repeatedly';
}

/**
 * Processes die for several reasons in the simulated world, but only a poisoned document may fail
 * for it.
 */
function noInnocentIsBlamed({ items, inputs }: Evidence): string[] {
  const bodies = new Map(inputs.map(({ item_id, body }) => [item_id, body]));
  return items
    .filter((row) => isBlamed(row) && bodies.get(row.id)?.includes(poisonWord) === false)
    .map(({ id, error }) => `item ${id}: ${error}`);
}

function eventsHaveNoGaps({ events, sequence }: Evidence): string[] {
  const wrong = events.find(({ seq }, index) => seq !== index + 1);
  if (wrong) return [`event ${wrong.seq} stands where another should`];
  return events.length === sequence
    ? []
    : [`${events.length} events, the last number is ${sequence}`];
}

function progressNeverShrinks({ moves }: Evidence): string[] {
  return moves
    .filter((move) => (move.old_progress & ~move.new_progress) !== 0)
    .map((move) => `item ${move.item_id} went from ${move.old_progress} to ${move.new_progress}`);
}

function epochsNeverShrink({ moves }: Evidence): string[] {
  return moves
    .filter((move) => move.new_epoch < move.old_epoch)
    .map((move) => `item ${move.item_id} went from ${move.old_epoch} to ${move.new_epoch}`);
}

function gatesHold({ moves }: Evidence): string[] {
  return moves
    .filter(({ at_gate }) => at_gate > limits.fetch.domainConcurrencyMax)
    .map((move) => `with item ${move.item_id}, ${move.at_gate} were at work at one gate`);
}

/**
 * Only an item that may still be retried keeps its generation; a replaced generation is removed
 * with the item's last commit, which a retried item still has ahead.
 */
function nothingIsLeftBehind(evidence: Evidence): string[] {
  const current = new Map(evidence.documents.map(({ id, generation_id }) => [id, generation_id]));
  const items = new Map(evidence.items.map((row) => [row.id, row]));
  const isAllowed = (id: number): boolean => {
    const row = items.get(id);
    const shown = current.get(row?.document_id ?? '') ?? 0;
    return shown === id || row?.step !== 'done' || items.get(shown)?.step !== 'done';
  };
  return evidence.parts
    .filter(({ generation_id: id }) => id === null || !isAllowed(id))
    .map(({ part, generation_id }) => `a ${part} of generation ${generation_id} is still there`);
}

function theNewestContentIsCurrent(evidence: Evidence): string[] {
  const { documents, items, inputs, deletedDocuments } = evidence;
  const contents = new Map(
    inputs.map(({ item_id, title, body }) => [item_id, `${title} ${body.trim()}`]),
  );
  const newest = new Map<string, number>();
  for (const { id, document_id, progress } of items) {
    if (deletedDocuments.has(document_id)) continue;
    if (item.isReached(progress, 'indexed')) newest.set(document_id, id);
  }
  const found = documents.flatMap(({ id, generation_id }) => {
    if (deletedDocuments.has(id)) return [];
    const last = newest.get(id) ?? 0;
    newest.delete(id);
    if (contents.get(last) === contents.get(generation_id)) return [];
    return [`document ${id} shows item ${generation_id}, and item ${last} succeeded after it`];
  });
  return [...found, ...[...newest.keys()].map((id) => `document ${id} is indexed, and not there`)];
}

function everyJobEnds({ jobs, touchedJobs }: Evidence): string[] {
  return jobs.flatMap((row) => {
    if (!jobMachine.final.includes(row.state)) return [`job ${row.id} is ${row.state}`];
    if (touchedJobs.has(row.key)) return [];
    const end = row.items_done > 0 ? 'succeeded' : row.items_failed > 0 ? 'failed' : 'canceled';
    return row.state === end ? [] : [`job ${row.id} is ${row.state}, and should be ${end}`];
  });
}

type Census = { readonly items: readonly StoredItem[]; readonly jobs: readonly JobRow[] };

function itemsByJob({ items }: Census): Map<number, StoredItem[]> {
  return Map.groupBy(items, ({ job_id }) => job_id);
}

function jobsCountTheirItems(census: Census): string[] {
  const byJob = itemsByJob(census);
  return census.jobs.flatMap((row) => {
    // A job counts its items as they will be when its sweep is over.
    const items = (byJob.get(row.id) ?? []).map((one) => asSwept(one, row));
    const count = (is: (one: StoredItem) => boolean): number => items.filter(is).length;
    const counted = {
      items_total: items.length,
      items_done: count(({ step }) => step === 'done'),
      items_failed: count(({ step }) => step === 'failed'),
      items_canceled: count(({ step }) => step === 'canceled'),
      items_waiting: count(({ waits_on, gate_held }) => waits_on === 'time' && gate_held === 0),
      tokens_in: items.reduce((sum, { tokens_in }) => sum + tokens_in, 0),
      cost_cents: items.reduce((sum, { cost_cents }) => sum + cost_cents, 0),
    };
    return Object.entries(counted)
      .filter(([name, value]) => row[name as keyof JobRow] !== value)
      .map(([name, value]) => {
        return `job ${row.id} has ${name} ${row[name as keyof JobRow]}, its items say ${value}`;
      });
  });
}

function asSwept(one: StoredItem, { sweep }: JobRow): StoredItem {
  if (one.waits_on === null || sweep === null || sweep === 'resume') return one;
  if (sweep === 'cancel') return { ...one, step: 'canceled', waits_on: null };
  return one.waits_on === 'task' ? one : { ...one, waits_on: 'person' };
}

function jobsFollowTheirItems({ jobs }: Census): string[] {
  return jobs.flatMap((row) => {
    const { items_total: total, items_done: done, items_failed: failed } = row;
    const { items_canceled: canceled, items_waiting: waiting, state } = row;
    const open = total - done - failed - canceled;
    if (jobMachine.final.includes(state)) {
      return open === 0 ? [] : [`job ${row.id} is ${state} with ${open} open items`];
    }
    const event = jobEventFor(state, { total, done, failed, canceled, waiting });
    return event === undefined ? [] : [`job ${row.id} is ${state}, and "${event}" did not happen`];
  });
}

function pausedJobsRest(census: Census): string[] {
  const byJob = itemsByJob(census);
  return (
    census.jobs
      .filter(({ state, sweep }) => state === 'paused' && sweep === null)
      .flatMap(({ id }) => byJob.get(id) ?? [])
      // Work at a provider continues there, and then waits for the person.
      .filter(({ waits_on }) => waits_on !== null && waits_on !== 'person' && waits_on !== 'task')
      .map(
        ({ id, job_id, waits_on }) =>
          `job ${job_id} is paused, its item ${id} waits on ${waits_on}`,
      )
  );
}
