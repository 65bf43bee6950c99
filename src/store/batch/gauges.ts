/** Metrics of batch tasks, read in one query. */
import { type BatchTaskState, batchTask } from '../../kernel/lifecycle/batch-task.ts';
import type { Reader } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

const gauges = sql<{ state: BatchTaskState; count: number; oldest: number; errors: number }>`
  SELECT state, COUNT(*) AS count, MIN(created_at) AS oldest, SUM(poll_errors) AS errors
  FROM batch_tasks GROUP BY state`;

export interface BatchGauges {
  readonly tasks: Readonly<Record<BatchTaskState, number>>;
  /** Age of the oldest task that has not ended; 0 where all have. */
  readonly oldestOpenMs: number;
  readonly pollErrors: number;
}

export async function readBatchGauges(reader: Reader, now: number): Promise<BatchGauges> {
  const rows = await reader.run(gauges);
  const counts = new Map(rows.map(({ state, count }) => [state, Number(count)]));
  const open = rows.filter(({ state }) => !batchTask.final.includes(state));
  return {
    tasks: Object.fromEntries(
      batchTask.states.map((state) => [state, counts.get(state) ?? 0]),
    ) as Record<BatchTaskState, number>,
    oldestOpenMs: Math.max(0, ...open.map(({ oldest }) => now - Number(oldest))),
    pollErrors: rows.reduce((sum, { errors }) => sum + Number(errors), 0),
  };
}
