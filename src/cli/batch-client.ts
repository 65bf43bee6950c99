/** Batch tasks for commands: in the local store, or behind a service. */

import type { Client } from '../client/http.ts';
import type { BodyOf } from '../contract/contract.ts';
import type { BatchTask } from '../contract/operation/batch.ts';
import { Failure } from '../kernel/failure/failure.ts';
import type { BatchTaskState } from '../kernel/lifecycle/batch-task.ts';
import { limits } from '../kernel/limits/limits.ts';
import { sessionOf } from '../library/internal.ts';
import { type Call, refuseMissing, serviceOf, withPawl } from './command.ts';

export interface BatchPage {
  readonly items: readonly BatchTask[];
  readonly next_cursor: string | null;
}

export interface BatchClient {
  submit(body: unknown): Promise<BatchTask>;
  list(filter: {
    readonly state?: BatchTaskState | undefined;
    readonly limit?: number | undefined;
  }): Promise<BatchPage>;
  /** Finds a task by its id, or by an unambiguous prefix of it. */
  show(id: string): Promise<BatchTask>;
  cancel(id: string): Promise<BatchTask>;
  /** The merged results, as a stream of bytes. */
  output(id: string): Promise<AsyncIterable<Uint8Array> | readonly Uint8Array[]>;
}

/** Opens the store or the service. A submission may create the store; a read command never does. */
export async function withBatch<T>(
  call: Call,
  { makesStore }: { readonly makesStore: boolean },
  use: (client: BatchClient) => Promise<T>,
): Promise<T> {
  const service = serviceOf(call);
  if (service) {
    const { Client } = await import('../client/http.ts');
    return use(remoteBatch(new Client(service)));
  }
  if (!makesStore) refuseMissing(call);
  return withPawl(call, { work: false }, (pawl) => use(sessionOf(pawl).batch));
}

function remoteBatch(client: Client): BatchClient {
  return {
    // The file is sent as it is. The service validates it and reports errors.
    submit: (body) =>
      client.ask('POST /batch/tasks', { body: body as BodyOf<'POST /batch/tasks'> }),
    list: (query) => client.ask('GET /batch/tasks', { query }),
    show: (id) => findTask(client, id),
    output: async (id) => client.batchOutput((await findTask(client, id)).task_id),
    cancel: async (id) => {
      const params = { id: (await findTask(client, id)).task_id };
      return client.ask('POST /batch/tasks/:id/cancel', { params });
    },
  };
}

/** Finds a task by its id, or among the newest by a prefix of it. */
async function findTask(client: Client, id: string): Promise<BatchTask> {
  if (id.length === 36) return client.ask('GET /batch/tasks/:id', { params: { id } });
  const query = { limit: limits.request.pageItemsMax };
  const { items } = await client.ask('GET /batch/tasks', { query });
  const [task, other] = items.filter(({ task_id }) => task_id.startsWith(id));
  if (task && !other) return task;
  const message = task ? `more than one batch task begins with ${id}` : undefined;
  throw new Failure('batch_task_unknown', message ?? `there is no batch task ${id}`);
}
