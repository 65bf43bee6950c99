/** Figures about batch tasks, asked of the store when they are read. */
import { Gauge, type Registry } from 'prom-client';
import { type BatchGauges, readBatchGauges } from '../../store/batch/tasks.ts';
import type { Database } from '../../store/driver/database.ts';

export interface BatchMetricsOptions {
  readonly database: Database;
  readonly now: () => number;
}

/** One question to the store for all three of them, each time they are read. */
export function addBatchGauges(
  registers: Registry[],
  { database, now }: BatchMetricsOptions,
): void {
  let reading: Promise<BatchGauges> | undefined;
  const read = (): Promise<BatchGauges> => {
    reading ??= readBatchGauges(database, now()).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  new Gauge({
    name: 'pawl_batch_tasks',
    help: 'Batch tasks, by where they stand',
    labelNames: ['status'],
    registers,
    async collect() {
      const { tasks } = await read();
      for (const [state, count] of Object.entries(tasks)) {
        this.set({ status: state.toUpperCase() }, count);
      }
    },
  });
  new Gauge({
    name: 'pawl_batch_oldest_open_seconds',
    help: 'Age of the oldest batch task that has not ended; 0 where all have',
    registers,
    async collect() {
      this.set((await read()).oldestOpenMs / 1000);
    },
  });
  new Gauge({
    name: 'pawl_batch_poll_errors',
    help: 'Errors of providers that were asked about batch tasks, over all tasks that are stored',
    registers,
    async collect() {
      this.set((await read()).pollErrors);
    },
  });
}
