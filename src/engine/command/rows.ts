/** Checks before a command, and events after it. */
import { Failure } from '../../kernel/failure/failure.ts';
import { type ItemMoveName, itemActions } from '../../kernel/lifecycle/item-wait.ts';
import type { JobEventName } from '../../kernel/lifecycle/job.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Reader, Transaction } from '../../store/driver/database.ts';
import { getItem, type ItemRow } from '../../store/item/items.ts';
import { actionsOfJob, findOpenJob, getJobById, type JobRow } from '../../store/job/jobs.ts';
import type { MovedJob } from '../../store/job/moves.ts';

export function jobIdsOf(rows: readonly ItemRow[]): number[] {
  return [...new Set(rows.map((row) => row.job_id))];
}

export async function jobsOf(
  transaction: Transaction,
  rows: readonly ItemRow[],
): Promise<ReadonlyMap<number, JobRow>> {
  const jobs = new Map<number, JobRow>();
  for (const id of jobIdsOf(rows)) {
    const job = await getJobById(transaction, id);
    if (job) jobs.set(id, job);
  }
  return jobs;
}

/** A corpus is not deleted while a job works on it. */
export async function checkNoneOpen(reader: Reader, caller: string, corpus: string): Promise<void> {
  const open = await findOpenJob(reader, caller, corpus);
  if (!open) return;
  const message = `job ${open.key} still works on ${corpus}: cancel it, or wait until it ends`;
  throw new Failure('action_not_allowed', message);
}

/** The item, if this action is offered on it. */
export async function itemForAction(
  transaction: Transaction,
  { id, caller, action }: { id: number; caller: string; action: ItemMoveName },
): Promise<ItemRow> {
  const row = await getItem(transaction, id, caller);
  if (!row) throw new Failure('item_unknown', `there is no item ${id}`);
  if (itemActions(row).includes(action)) return row;
  throw new Failure('action_not_allowed', `item ${id} is ${row.step}, not in the inbox`);
}

export function checkAction(row: JobRow, action: JobEventName): void {
  const allowed = actionsOfJob(row);
  if (allowed.includes(action)) return;
  throw new Failure(
    'action_not_allowed',
    `cannot ${action} a job that is ${row.state}; possible now: ${allowed.join(', ') || 'nothing'}`,
  );
}

/** The event of a command's move. If nothing moved, another process was first. */
export function jobEvent(
  row: JobRow,
  kind: NewEvent['kind'],
  moved: MovedJob | undefined,
  detail: { readonly reason: string } & Readonly<Record<string, unknown>>,
): NewEvent {
  const { from = row.state, to = row.state, attempt = row.attempt } = moved ?? {};
  return { kind, jobId: row.id, attempt, detail: { from, to, ...detail } };
}

export function itemEvent(row: ItemRow, kind: NewEvent['kind']): NewEvent {
  const code = row.error === null ? undefined : JSON.parse(row.error).code;
  return { kind, jobId: row.job_id, itemId: row.id, detail: code && { code } };
}
