/** Items in the shape of the contract, with what their rows do not say: who is before them, why. */
import { retryPolicyFor } from '../kernel/backoff.ts';
import { explain } from '../kernel/explanation.ts';
import { type FailureCode, failures, isFailureCode, isOutage } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import { getGateLimits } from '../store/gates.ts';
import type { ErrorRecord, ItemRow } from '../store/items.ts';
import { listOwners } from '../store/job-views.ts';
import { countLineBefore, countTurnsBefore } from '../store/places.ts';
import { listWorkers } from '../store/workers.ts';
import type { Item } from './schema.ts';
import type { Looking } from './service.ts';
import { itemShape } from './shape.ts';

/** In a list, places are counted less far. */
const placesCountedInList = 1000;

export async function viewItems(service: Looking, rows: readonly ItemRow[]): Promise<Item[]> {
  const { database } = service;
  const owners = await listOwners(database, [...new Set(rows.map(({ job_id }) => job_id))]);
  const keys = new Map(owners.map(({ id, key }) => [id, key]));
  const isWorkedOn = rows.some(({ worker }) => worker !== null);
  const workers = isWorkedOn ? await listWorkers(database) : [];
  const beats = new Map(workers.map(({ id, beat_at }) => [id, beat_at]));
  const limit = rows.length > 1 ? placesCountedInList : limits.request.placesCountedMax;
  const items: Item[] = [];
  for (const row of rows) {
    const beatAt = row.worker === null ? undefined : beats.get(row.worker);
    items.push(await viewItem(service, row, { jobKey: keys.get(row.job_id) ?? '', beatAt, limit }));
  }
  return items;
}

interface Known {
  readonly jobKey: string;
  readonly beatAt: number | undefined;
  readonly limit: number;
}

async function viewItem(service: Looking, row: ItemRow, known: Known): Promise<Item> {
  const { database, lifecycle, progress } = service;
  const error: ErrorRecord | null = row.error === null ? null : JSON.parse(row.error);
  const next = lifecycle.ready(row.progress);
  const isReached = (step: string): boolean => lifecycle.isReached(row.progress, step);
  const working = row.waits_on === 'worker' ? progress.of(row.id, isReached) : null;
  const before = await countBefore(service, row, known.limit);
  const code = errorCodeOf(error);
  const now = database.now();
  const explanation = explain({
    step: row.step,
    next,
    waitsOn: row.waits_on,
    failedAttempts: row.attempt,
    attemptsMax: attemptsOf(service, next, code),
    dueAt: row.due_at,
    worker: row.worker,
    silentMs: known.beatAt === undefined ? null : now - known.beatAt,
    working,
    gate: row.gate,
    gateLimits:
      row.waits_on === 'gate' && row.gate !== null ? await getGateLimits(database, row.gate) : null,
    before,
    isBeforeCut: before >= known.limit,
    error: error && { ...error, title: failures[code].title, isOutage: isOutage(code) },
    advice: error && failures[code].advice,
    now,
  });
  return itemShape(row, { jobKey: known.jobKey, explanation, working, lifecycle });
}

function countBefore({ database }: Looking, row: ItemRow, limit: number): Promise<number> {
  const { rank, gate, waits_on } = row;
  if (waits_on === 'turn') return countTurnsBefore(database, { rank, limit });
  if (waits_on === 'gate' && gate !== null) return countLineBefore(database, { gate, rank, limit });
  return Promise.resolve(0);
}

function attemptsOf({ lifecycle }: Looking, next: readonly string[], code: FailureCode): number {
  const stage = next[0] === undefined ? 'embedding' : lifecycle.row(next[0]).stage;
  return retryPolicyFor(stage, code).attemptsMax;
}

function errorCodeOf(error: ErrorRecord | null): FailureCode {
  return error !== null && isFailureCode(error.code) ? error.code : 'internal_error';
}
