/** Which batch providers the running processes have the settings of. */
import { limits } from '../../kernel/limits/limits.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';

const upsert = sqlRows({ provider: 'text', task_types: 'text', models: 'text' })`
  INSERT INTO batch_presence (process, provider, task_types, models, seen_at)
  SELECT :process, :provider, :task_types, :models, CAST(:now AS {int}) {rows} WHERE true
  ON CONFLICT (process, provider) DO UPDATE SET seen_at = excluded.seen_at`;
const prune = sql`DELETE FROM batch_presence WHERE seen_at < :before`;
const remove = sql`DELETE FROM batch_presence WHERE process = :process`;
const list = sql<{ provider: string }>`
  SELECT DISTINCT provider FROM batch_presence WHERE seen_at >= :since`;

export interface PresentProvider {
  readonly name: string;
  readonly taskTypes: readonly string[];
  /** Which models are its own. */
  readonly models?: RegExp | undefined;
}

export interface Presence {
  readonly process: string;
  readonly providers: readonly PresentProvider[];
  readonly now: number;
}

/** Records that a process serves these providers, and forgets processes that ended. */
export async function announce(
  transaction: Transaction,
  { process, providers, now }: Presence,
): Promise<void> {
  await transaction.run(prune, { before: now - 2 * limits.batch.presenceMsMax });
  if (providers.length === 0) return;
  const rows = providers.map(({ name, taskTypes, models }) => ({
    provider: name,
    task_types: taskTypes.join(),
    models: models?.source ?? null,
  }));
  await transaction.each(upsert, rows, { process, now });
}

export async function withdraw(transaction: Transaction, process: string): Promise<void> {
  await transaction.run(remove, { process });
}

/** Providers that some running process serves. */
export async function servedProviders(reader: Reader, now: number): Promise<ReadonlySet<string>> {
  const rows = await reader.run(list, { since: now - limits.batch.presenceMsMax });
  return new Set(rows.map(({ provider }) => provider));
}

const listAll = sql<{ provider: string; task_types: string; models: string | null }>`
  SELECT DISTINCT provider, task_types, models FROM batch_presence
  WHERE seen_at >= :since ORDER BY provider, task_types, models`;

export interface ServedProvider {
  readonly name: string;
  readonly taskTypes: readonly string[];
  /** It is found by the model that a task names, and not by its own name. */
  readonly isFoundByModel: boolean;
}

/** The same with what they take, by name. */
export async function listProviders(reader: Reader, now: number): Promise<ServedProvider[]> {
  const rows = await reader.run(listAll, { since: now - limits.batch.presenceMsMax });
  // Two processes may have it with different settings: the first counts.
  const byName = new Map(rows.toReversed().map((row) => [row.provider, row]));
  return [...byName.values()].toReversed().map(({ provider, task_types: types, models }) => ({
    name: provider,
    taskTypes: types.split(','),
    isFoundByModel: models !== null,
  }));
}

const listModels = sql<{ task_types: string; models: string }>`
  SELECT DISTINCT task_types, models FROM batch_presence
  WHERE seen_at >= :since AND models IS NOT NULL`;

/** Whether some running process has a provider that answers such tasks with this model. */
export async function isModelServed(
  reader: Reader,
  { model, taskType, now }: { model: string; taskType: string; now: number },
): Promise<boolean> {
  const rows = await reader.run(listModels, { since: now - limits.batch.presenceMsMax });
  return rows.some(
    ({ task_types: types, models }) =>
      types.split(',').includes(taskType) && new RegExp(models).test(model),
  );
}
