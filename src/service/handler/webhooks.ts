/** Webhooks: deliveries, sending one again, and the signing secret. */

import type { Delivery } from '../../contract/schema/schema.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { redact } from '../../kernel/text/redact.ts';
import {
  type DeliveryRow,
  listDeliveries,
  replayDelivery,
} from '../../store/delivery/deliveries.ts';
import { callerSecret } from '../../webhook/webhook.ts';
import { limitOf, nextPage, numberCursor } from '../cursor.ts';
import type { Service, StoreHandlers, StoreService } from '../service.ts';
import { maybeTimeOf, timeOf } from '../view/serializer.ts';
import { ownJob } from './jobs.ts';

export function webhookRoutes(service: StoreService) {
  const { database, webhooks } = service;
  return {
    'GET /jobs/:id/deliveries': async ({ caller, params, query }) => {
      const { id: job_id } = await ownJob(service, caller.callerId, params.id);
      const limit = limitOf(query);
      const page = { job_id, after: numberCursor(query) ?? 0, limit };
      const rows = await listDeliveries(database, page);
      return { items: rows.map(deliveryShape), ...nextPage(rows, limit, ({ seq }) => seq) };
    },
    'POST /jobs/:id/deliveries/:delivery/replay': async ({ caller, params }) => {
      const { id: job_id } = await ownJob(service, caller.callerId, params.id);
      const replay = { key: params.delivery, job_id, now: database.now() };
      const row = await database.write((transaction) => replayDelivery(transaction, replay));
      if (!row) throw new Failure('delivery_unknown', `there is no delivery ${params.delivery}`);
      webhooks.ring();
      return deliveryShape(row);
    },
    'GET /webhooks/secret': async ({ caller }) => ({
      secret: callerSecret(webhookSecret(service), caller.callerId),
    }),
  } satisfies Partial<StoreHandlers>;
}

/** Without a secret, receivers could not distinguish our webhooks from forged ones. */
export function webhookSecret({ webhooks: { secret } }: Pick<Service, 'webhooks'>): string {
  if (secret !== undefined) return secret;
  const message = 'webhooks are disabled: set PAWL_WEBHOOK_SECRET for the service';
  throw new Failure('action_not_allowed', message);
}

function deliveryShape(row: DeliveryRow): Delivery {
  return {
    delivery_id: row.key,
    type: row.kind.replace('_', '.'),
    url: redact(row.url),
    state: row.due_at !== null ? 'pending' : row.is_delivered === 1 ? 'delivered' : 'failed',
    attempt: row.attempt,
    status: row.status,
    error: row.error,
    next_try_at: maybeTimeOf(row.due_at),
    tried_at: maybeTimeOf(row.tried_at),
    created_at: timeOf(row.created_at),
  };
}
