/** Batch tasks of the local caller, in the form of the contract. */
import { localCaller } from '../access/caller.ts';
import type { Assembled } from '../app/wire.ts';
import type { BatchTask } from '../contract/operation/batch.ts';
import { outputOf } from '../engine/batch/commands.ts';
import { readWaiting } from '../engine/batch/waiting.ts';
import { Failure } from '../kernel/failure/failure.ts';
import type { BatchTaskState } from '../kernel/lifecycle/batch-task.ts';
import { limitOf, nextPage, numberCursor, type PageQuery } from '../service/cursor.ts';
import { batchTaskShape } from '../service/view/batch.ts';
import { type BatchTaskRow, findBatchTasks, listBatchTasks } from '../store/batch/tasks.ts';

export interface BatchQuery extends PageQuery {
  readonly state?: BatchTaskState | undefined;
}

export type LocalBatch = ReturnType<typeof localBatch>;

const { callerId: caller } = localCaller;

export function localBatch({ database, blobs, batch }: Assembled) {
  const find = async (id: string): Promise<BatchTaskRow> => {
    const [row, other] = await findBatchTasks(database, caller, id);
    if (row && !other) return row;
    const message = other ? `more than one batch task begins with ${id}` : undefined;
    throw new Failure('batch_task_unknown', message ?? `there is no batch task ${id}`);
  };
  const show = async (id: string): Promise<BatchTask> =>
    batchTaskShape(await find(id), await readWaiting(database));
  return {
    /** A task by its id, or by a unique prefix of it. */
    show,
    submit: async (body: unknown): Promise<BatchTask> =>
      show((await batch.commands.submit(caller, body)).key),
    list: async (query: BatchQuery) => {
      const limit = limitOf(query);
      const before = numberCursor(query);
      const rows = await listBatchTasks(database, { caller, state: query.state, before, limit });
      const waiting = await readWaiting(database);
      const items = rows.map((row) => batchTaskShape(row, waiting));
      return { items, ...nextPage(rows, limit, ({ id }) => id) };
    },
    cancel: async (id: string): Promise<BatchTask> => {
      const { key } = await find(id);
      await batch.commands.cancel(caller, key);
      return show(key);
    },
    /** The merged results, as JSON bytes in parts. */
    output: async (id: string) => outputOf(await find(id), blobs),
  };
}
