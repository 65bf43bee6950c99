/** What items wait for at services in other processes, and whether a worker is running. */

import type { StepService } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Reader } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

export interface ServiceWait {
  readonly stage: StepService;
  /** The requested steps; empty while the item waits in the service queue. */
  readonly steps: readonly string[];
  /** The name of the worker on it. */
  readonly worker: string | null;
  /** Requests have waited for a while, and no worker of the stage has begun any. */
  readonly isAway: boolean;
  readonly isQueued: boolean;
}

const queuedItems = sql<{ item_id: number; stage: StepService }>`
  SELECT item_id, service AS stage FROM service_queue
  WHERE item_id {amongIds} AND service <> 'here'`;
const asked = sql<{ item_id: number; stage: StepService; step: string; worker: string | null }>`
  SELECT item_id, stage, step, worker FROM handoffs
  WHERE item_id {amongIds} AND answered_at IS NULL ORDER BY id`;
const unbegun = sql<{ stage: string }>`
  SELECT DISTINCT stage FROM handoffs
  WHERE answered_at IS NULL AND worker IS NULL AND created_at <= :asked_before`;
const begun = sql<{ stage: string }>`
  SELECT DISTINCT stage FROM handoffs
  WHERE answered_at IS NULL AND worker IS NOT NULL AND beat_at > :beaten_after`;

/** By item; items without a service request are absent. */
export async function serviceWaits(
  reader: Reader,
  itemIds: readonly number[],
  now: number,
): Promise<ReadonlyMap<number, ServiceWait>> {
  if (itemIds.length === 0) return new Map();
  const ids = { ids: JSON.stringify(itemIds) };
  const [queued, open] = [await reader.run(queuedItems, ids), await reader.run(asked, ids)];
  if (queued.length + open.length === 0) return new Map();
  const away = await stagesAway(reader, now);
  const waits = new Map<number, ServiceWait>();
  for (const { item_id, stage } of queued) {
    const isAway = away.has(stage);
    waits.set(item_id, { stage, steps: [], worker: null, isAway, isQueued: true });
  }
  for (const { item_id, stage, step, worker } of open) {
    const before = waits.get(item_id);
    waits.set(item_id, {
      stage,
      steps: [...(before?.steps ?? []), step],
      worker: before?.worker ?? nameOf(worker),
      isAway: away.has(stage),
      isQueued: before?.isQueued ?? false,
    });
  }
  return waits;
}

/** Stages with open requests and no live worker. */
export async function stagesAway(reader: Reader, now: number): Promise<ReadonlySet<string>> {
  const { unheardMs, silentMsMax } = limits.handoff;
  const waiting = await reader.run(unbegun, { asked_before: now - unheardMs });
  if (waiting.length === 0) return new Set();
  const served = await reader.run(begun, { beaten_after: now - silentMsMax });
  const there = new Set(served.map(({ stage }) => stage));
  return new Set(waiting.map(({ stage }) => stage).filter((stage) => !there.has(stage)));
}

function nameOf(worker: string | null): string | null {
  return worker === null ? null : String((JSON.parse(worker) as { id?: unknown }).id);
}
