/**
 * Items in the schema of the contract, with their queue position and explanation, which are not in
 * the row.
 */

import type { Item } from '../../contract/schema/schema.ts';
import { retryPolicyFor } from '../../kernel/backoff.ts';
import { explain } from '../../kernel/explanation.ts';
import {
  type FailureCode,
  failures,
  isFailureCode,
  isOutage,
} from '../../kernel/failure/failure.ts';
import { place } from '../../kernel/lifecycle/item-wait.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type ServiceWait, serviceWaits } from '../../store/handoff/service-views.ts';
import { getGateLimits } from '../../store/item/gates.ts';
import type { ErrorRecord, ItemRow } from '../../store/item/items.ts';
import {
  countLineBefore,
  countServiceQueueBefore,
  countTurnsBefore,
} from '../../store/item/places.ts';
import { listWorkers } from '../../store/item/workers.ts';
import { listOwners } from '../../store/job/views.ts';
import type { ReadService } from '../service.ts';
import { itemShape } from './serializer.ts';

/** In a list, queue positions are counted up to a lower maximum. */
const placesCountedInList = 1000;

export async function viewItems(service: ReadService, rows: readonly ItemRow[]): Promise<Item[]> {
  const { database } = service;
  const owners = await listOwners(database, [...new Set(rows.map(({ job_id }) => job_id))]);
  const keys = new Map(owners.map(({ id, key }) => [id, key]));
  const isWorkedOn = rows.some(({ worker }) => worker !== null);
  const workers = isWorkedOn ? await listWorkers(database) : [];
  const beats = new Map(workers.map(({ id, beat_at }) => [id, beat_at]));
  const waiting = rows.filter(
    ({ waits_on }) => waits_on === place.turn || waits_on === place.worker,
  );
  const waitingIds = waiting.map(({ id }) => id);
  const services = await serviceWaits(database, waitingIds, database.now());
  const limit = rows.length > 1 ? placesCountedInList : limits.request.placesCountedMax;
  const items: Item[] = [];
  for (const row of rows) {
    const beatAt = row.worker === null ? undefined : beats.get(row.worker);
    const known = { jobKey: keys.get(row.job_id) ?? '', beatAt, limit };
    items.push(await viewItem(service, row, { ...known, service: services.get(row.id) }));
  }
  return items;
}

interface Known {
  readonly jobKey: string;
  readonly beatAt: number | undefined;
  readonly limit: number;
  readonly service: ServiceWait | undefined;
}

async function viewItem(service: ReadService, row: ItemRow, known: Known): Promise<Item> {
  const { database, lifecycle, progress } = service;
  const error: ErrorRecord | null = row.error === null ? null : JSON.parse(row.error);
  const ready = lifecycle.ready(row.progress);
  const next = known.service ? stepsAt(known.service, ready) : ready;
  const isReached = (step: string): boolean => lifecycle.isReached(row.progress, step);
  const working = row.waits_on === place.worker ? progress.of(row.id, isReached) : null;
  const before = await countBefore(service, row, known);
  const code = errorCodeOf(error);
  const now = database.now();
  const explanation = explain({
    step: row.step,
    next,
    waitsOn: row.waits_on,
    failedTries: row.attempt,
    triesMax: attemptsOf(service, ready, code),
    dueAt: row.due_at,
    worker: row.worker,
    service: known.service,
    silentMs: known.beatAt === undefined ? null : now - known.beatAt,
    working,
    gate: row.gate,
    gateLimits:
      row.waits_on === place.gate && row.gate !== null
        ? await getGateLimits(database, row.gate)
        : null,
    before,
    isBeforeCut: before >= known.limit,
    error: error && { ...error, title: titleOf(code, error), isOutage: isOutage(code) },
    advice: error && failures[code].advice,
    now,
  });
  return itemShape(row, { jobKey: known.jobKey, explanation, working, lifecycle });
}

/** The request to the service, without parallel steps. */
function stepsAt({ steps, isQueued }: ServiceWait, ready: readonly string[]): readonly string[] {
  const apart = isQueued ? ready.filter((step) => step !== 'chunked') : steps;
  return apart.length > 0 ? apart : ready;
}

function countBefore(
  { database }: ReadService,
  row: ItemRow,
  { limit, service }: Known,
): Promise<number> {
  const { rank, gate, waits_on } = row;
  if (waits_on === place.turn && service?.isQueued) {
    return countServiceQueueBefore(database, { service: service.stage, rank, limit });
  }
  if (waits_on === place.turn) return countTurnsBefore(database, { rank, limit });
  if (waits_on === place.gate && gate !== null)
    return countLineBefore(database, { gate, rank, limit });
  return Promise.resolve(0);
}

function attemptsOf(
  { lifecycle }: ReadService,
  next: readonly string[],
  code: FailureCode,
): number {
  const stage = next[0] === undefined ? 'embedding' : lifecycle.row(next[0]).stage;
  return retryPolicyFor(stage, code).triesMax;
}

/** Only its message says which service is busy. */
function titleOf(code: FailureCode, { message }: ErrorRecord): string {
  return code === 'service_busy' ? message : failures[code].title;
}

function errorCodeOf(error: ErrorRecord | null): FailureCode {
  return error !== null && isFailureCode(error.code) ? error.code : 'internal_error';
}
