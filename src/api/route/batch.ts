/** Batch tasks: submit, look, read, cancel. Their provider is called by others, later. */
import { Readable } from 'node:stream';
import { getPieces } from '../../blob/blob.ts';
import { unknown } from '../../engine/batch-commands.ts';
import { Failure } from '../../kernel/failure.ts';
import { type BatchTaskRow, getBatchTask, listBatchTasks } from '../../store/batch-tasks.ts';
import { batchTaskShape } from '../batch-shape.ts';
import { limitOf, nextCursor, numberCursor } from '../cursor.ts';
import type { Handlers, Service } from '../service.ts';
import { idempotencyOf } from './jobs.ts';

export function batchRoutes(service: Service) {
  const { database, batch } = service;
  return {
    'POST /batch/tasks': async ({ caller, body, headers, log, reply }) => {
      const { callerId } = caller;
      const request = JSON.stringify(['POST /batch/tasks', body]);
      const idempotency = idempotencyOf(headers['idempotency-key'], request);
      const { key, isReplayed } = await batch.submit(callerId, body, idempotency);
      log.info({ task_id: key, caller_id: callerId, replayed: isReplayed }, 'task submitted');
      if (isReplayed) reply.header('idempotency-replayed', 'true');
      return batchTaskShape(await ownTask(service, callerId, key));
    },
    'GET /batch/tasks': async ({ caller, query }) => {
      const limit = limitOf(query);
      const rows = await listBatchTasks(database, {
        caller: caller.callerId,
        state: query.state,
        before: numberCursor(query),
        limit,
      });
      return {
        items: rows.map(batchTaskShape),
        next_cursor: nextCursor(rows, limit, ({ id }) => id),
      };
    },
    'GET /batch/tasks/:id': async ({ caller, params }) =>
      batchTaskShape(await ownTask(service, caller.callerId, params.id)),
    'GET /batch/tasks/:id/output': async ({ caller, params, reply }) => {
      const { key, state, output_key } = await ownTask(service, caller.callerId, params.id);
      if (output_key === null) {
        throw new Failure('action_not_allowed', `batch task ${key} is ${state}: it has no output`);
      }
      // Results may be larger than what this process should hold.
      const pieces = Readable.from(await getPieces(service.blobs, output_key));
      reply.type('application/json').send(pieces);
      return undefined;
    },
    'POST /batch/tasks/:id/cancel': async ({ caller, params }) => {
      await batch.cancel(caller.callerId, params.id);
      return batchTaskShape(await ownTask(service, caller.callerId, params.id));
    },
  } satisfies Partial<Handlers>;
}

/** A task of somebody else is not there. */
async function ownTask({ database }: Service, caller: string, key: string): Promise<BatchTaskRow> {
  const row = await getBatchTask(database, key, caller);
  if (row) return row;
  throw unknown(key);
}
