import type { Database } from '../../src/store/driver/database.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { countWithoutCause } from '../../src/store/item/items.ts';
import { allItems, allJobs } from './evidence.ts';
import { always } from './invariants.ts';
import type { Recorder } from './recorder.ts';

/** In a stopped job, items skipped by a claim or held by a dead worker wait for the sweep. */
const isUnswept = `NOT EXISTS (
  SELECT 1 FROM jobs WHERE jobs.id = items.job_id AND jobs.sweep IS NOT NULL)`;

/** An item must be where it says, and nowhere else; a lease must belong to a claim. */
const misplaced = sql<{ id: number; place: string }>`
  WITH places AS (
    SELECT item_id AS id, 'turn' AS place FROM turns
    UNION ALL SELECT item_id, 'turn' FROM service_queue
    UNION ALL SELECT item_id, 'turn' FROM suspects
    UNION ALL SELECT item_id, 'time' FROM timers
    UNION ALL SELECT item_id, 'gate' FROM lines)
  SELECT places.id, 'is in the queue of ' || place || ', waits on ' || waits_on AS place
    FROM places LEFT JOIN items ON items.id = places.id
    WHERE items.waits_on IS NOT places.place
  UNION ALL SELECT id, 'is in no queue, waits on ' || waits_on FROM items
    WHERE waits_on IN ('turn', 'time', 'gate') AND ${isUnswept}
      AND NOT EXISTS (SELECT 1 FROM places WHERE places.id = items.id AND place = waits_on)
  UNION ALL SELECT id, 'is leased, and in no claim of ' || worker FROM items
    WHERE waits_on = 'worker' AND ${isUnswept} AND NOT EXISTS (
      SELECT 1 FROM claims, json_each(claims.items) AS claimed
      WHERE claims.worker = items.worker AND claimed.value = items.id)`;

export async function checkAlways(store: Database, recorder: Recorder): Promise<void> {
  const census = { items: await store.run(allItems), jobs: await store.run(allJobs) };
  for (const [name, invariant] of Object.entries(always)) {
    for (const detail of invariant(census)) recorder.violate(name, detail);
  }
  const stranded = await countWithoutCause(store);
  if (stranded > 0) recorder.violate('everyOpenItemHasACause', `${stranded} items have none`);
  for (const { id, place } of await store.run(misplaced)) {
    recorder.violate('queuesSayWhatItemsSay', `item ${id} ${place}`);
  }
}
