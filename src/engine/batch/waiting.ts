/** Explains in a sentence what a batch task waits for. */
import { batchTask } from '../../kernel/lifecycle/batch-task.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { listUnassigned } from '../../store/batch/lines.ts';
import { servedProviders } from '../../store/batch/presence.ts';
import { listServing } from '../../store/batch/taking.ts';
import type { BatchTaskRow } from '../../store/batch/tasks.ts';
import type { Database } from '../../store/driver/database.ts';

export type Waiting = (row: BatchTaskRow) => string | null;

/** Reads the served providers once, for any number of tasks. */
export async function readWaiting(database: Database): Promise<Waiting> {
  const served = await servedProviders(database, database.now());
  return (row) => {
    const isOpen = !batchTask.final.includes(row.state);
    if (!isOpen && row.is_cancel_due === 0) return null;
    return unservedReason(row, served) ?? row.wait_reason ?? (isOpen ? null : ending);
  };
}

/** One sentence for each kind of work whose provider no running process serves. */
export async function unservedReasons(database: Database): Promise<string[]> {
  const now = database.now();
  const served = await servedProviders(database, now);
  const tasks = (await listServing(database)).flatMap((names) => {
    const what = names ?? 'an older task';
    return names?.split(',').every((name) => served.has(name)) ? [] : [unservedBy(what)];
  });
  const waitingLines = (await listUnassigned(database, now))
    .filter(({ oldest }) => now - Number(oldest) > neglectedMs)
    .map(({ count, model }) => `${count} requests for ${model} wait, and no process sends them`);
  return [...tasks, ...waitingLines];
}

/** A process with the provider's settings sends requests well before this. */
const neglectedMs = 10 * limits.batch.gatherMs;

const ending = 'its jobs are being ended at the provider';

function unservedReason(
  { served_by: names, input }: BatchTaskRow,
  served: ReadonlySet<string>,
): string | undefined {
  if (names === null) {
    const { models = [] } = JSON.parse(input) as { models?: readonly string[] };
    return unservedBy(`for ${models.join(', ')}`);
  }
  const missing = names.split(',').filter((name) => !served.has(name));
  return missing.length === 0 ? undefined : unservedBy(missing.join(', '));
}

function unservedBy(provider: string): string {
  return `no process has the settings of provider ${provider}; set PAWL_BATCH_PROVIDERS`;
}
