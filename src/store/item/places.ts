/** Where a waiting item stands: how many are before it, and what its gate allows. */
import type { Reader } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

const turnsBefore = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM (
    SELECT 1 FROM turns WHERE rank < :rank ORDER BY rank LIMIT :limit) AS earlier`;
const lineBefore = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM (
    SELECT 1 FROM lines WHERE gate = :gate AND rank < :rank ORDER BY rank LIMIT :limit) AS earlier`;

/** How many stand before it in the queue, counted up to a limit. */
export async function countTurnsBefore(
  reader: Reader,
  place: { rank: number; limit: number },
): Promise<number> {
  return (await reader.run(turnsBefore, place))[0]?.count ?? 0;
}

const benchBefore = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM (
    SELECT 1 FROM service_queue WHERE service = :service AND rank < :rank
    ORDER BY rank LIMIT :limit) AS earlier`;

/** The same for those that wait for a place at a service. */
export async function countServiceQueueBefore(
  reader: Reader,
  place: { service: string; rank: number; limit: number },
): Promise<number> {
  return (await reader.run(benchBefore, place))[0]?.count ?? 0;
}

/** The same for the line behind a gate. */
export async function countLineBefore(
  reader: Reader,
  place: { gate: string; rank: number; limit: number },
): Promise<number> {
  return (await reader.run(lineBefore, place))[0]?.count ?? 0;
}

const depths = sql<{ queue: string; count: number }>`
  SELECT 'turns' AS queue, COUNT(*) AS count FROM turns
  UNION ALL SELECT 'suspects', COUNT(*) FROM suspects
  UNION ALL SELECT 'service_queue', COUNT(*) FROM service_queue
  UNION ALL SELECT 'timers', COUNT(*) FROM timers
  UNION ALL SELECT 'gates', COUNT(*) FROM lines`;

/** How many items stand in each queue. */
export function countQueues(reader: Reader): Promise<{ queue: string; count: number }[]> {
  return reader.run(depths);
}

/** How many items wait in the queues, all together. */
export async function countWaiting(reader: Reader): Promise<number> {
  return (await countQueues(reader)).reduce((sum, { count }) => sum + count, 0);
}
