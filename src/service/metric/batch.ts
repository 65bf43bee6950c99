/** Metrics of batch tasks, queried from the store on every scrape. */
import { Gauge, type Registry } from 'prom-client';
import { type BatchGauges, readBatchGauges } from '../../store/batch/gauges.ts';
import type { Database } from '../../store/driver/database.ts';

export interface BatchMetricsOptions {
  readonly database: Database;
  readonly now: () => number;
}

/** One query for all three, on every scrape. */
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
    help: 'Batch tasks by state',
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
    help: 'Age of the oldest open batch task; 0 without one',
    registers,
    async collect() {
      this.set((await read()).oldestOpenMs / 1000);
    },
  });
  new Gauge({
    name: 'pawl_batch_poll_errors',
    help: 'Polling errors of providers, summed over all stored batch tasks',
    registers,
    async collect() {
      this.set((await read()).pollErrors);
    },
  });
}
