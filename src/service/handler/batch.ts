/** Batch tasks: submit, list, show, output, cancel. Background work calls the provider later. */
import { Readable } from 'node:stream';
import { outputOf, unknown } from '../../engine/batch/commands.ts';
import { readWaiting } from '../../engine/batch/waiting.ts';
import { listProviders } from '../../store/batch/presence.ts';
import { type BatchTaskRow, getBatchTask, listBatchTasks } from '../../store/batch/tasks.ts';
import { limitOf, nextPage, numberCursor } from '../cursor.ts';
import type { Handlers, Service, StoreHandlers, StoreService } from '../service.ts';
import { batchTaskShape } from '../view/batch.ts';
import { idempotencyOf } from './jobs.ts';

export function batchRoutes(service: StoreService) {
  const { database, batch } = service;
  const shown = async (row: BatchTaskRow) => batchTaskShape(row, await readWaiting(database));
  return {
    'POST /batch/tasks': async ({ caller, body, headers, log, reply }) => {
      const { callerId } = caller;
      const request = { route: 'POST /batch/tasks', body };
      const idempotency = await idempotencyOf(headers['idempotency-key'], request);
      const { key, isReplayed } = await batch.submit(callerId, body, idempotency);
      log.info({ task_id: key, caller_id: caller.shownId, replayed: isReplayed }, 'task submitted');
      if (isReplayed) reply.header('idempotency-replayed', 'true');
      return shown(await ownTask(service, callerId, key));
    },
    'GET /batch/providers': async () => {
      const providers = await listProviders(database, database.now());
      const items = providers.map(({ name, taskTypes, isFoundByModel }) => ({
        provider: name,
        task_types: [...taskTypes],
        input: isFoundByModel ? ('requests' as const) : ('urls' as const),
      }));
      return { items };
    },
    'GET /batch/tasks': async ({ caller, query }) => {
      const limit = limitOf(query);
      const rows = await listBatchTasks(database, {
        caller: caller.callerId,
        state: query.state,
        before: numberCursor(query),
        limit,
      });
      const waiting = await readWaiting(database);
      return {
        items: rows.map((row) => batchTaskShape(row, waiting)),
        ...nextPage(rows, limit, ({ id }) => id),
      };
    },
    'GET /batch/tasks/:id': async ({ caller, params }) =>
      shown(await ownTask(service, caller.callerId, params.id)),
    'POST /batch/tasks/:id/cancel': async ({ caller, params }) => {
      await batch.cancel(caller.callerId, params.id);
      return shown(await ownTask(service, caller.callerId, params.id));
    },
  } satisfies Partial<StoreHandlers>;
}

export function batchOutputRoutes(service: Pick<Service, 'database' | 'blobs'>) {
  return {
    'GET /batch/tasks/:id/output': async ({ caller, params, reply }) => {
      const row = await ownTask(service, caller.callerId, params.id);
      // Results may be larger than the memory of this process, so they are streamed.
      const pieces = Readable.from(await outputOf(row, service.blobs));
      reply.type('application/json').send(pieces);
      return undefined;
    },
  } satisfies Partial<Handlers>;
}

/** A task of another caller is answered as unknown. */
async function ownTask(
  { database }: Pick<Service, 'database'>,
  caller: string,
  key: string,
): Promise<BatchTaskRow> {
  const row = await getBatchTask(database, key, caller);
  if (row) return row;
  throw unknown(key);
}
