/**
 * The webhook body and its signature, as in Standard Webhooks. Every caller has its own secret,
 * derived from the configured one, so that no caller can sign as Pawl to another.
 */
import { createHmac } from 'node:crypto';
import type { DeliveryRow, EndRow } from '../store/delivery/deliveries.ts';

/** For the receiver: the bytes after `whsec_` sign. */
export function callerSecret(secret: string, caller: string): string {
  return `whsec_${createHmac('sha256', secret).update(`webhook:${caller}`).digest('base64')}`;
}

export function signedHeaders(
  { key, body }: Pick<DeliveryRow, 'key' | 'body'>,
  { secret, now }: { secret: string; now: number },
): Record<string, string> {
  const at = String(Math.floor(now / 1000));
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', bytes).update(`${key}.${at}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': key,
    'webhook-timestamp': at,
    'webhook-signature': `v1,${signature}`,
  };
}

/** `job_succeeded` becomes `job.succeeded`. */
export function bodyOf(end: EndRow): string {
  return JSON.stringify({
    type: end.kind.replace('_', '.'),
    timestamp: new Date(end.at).toISOString(),
    data: {
      job_id: end.key,
      event_seq: end.seq,
      state: end.state,
      corpus_name: end.corpus,
      items_total: end.items_total,
      items_done: end.items_done,
      items_failed: end.items_failed,
      items_canceled: end.items_canceled,
      failed_stage: end.failed_stage,
      cost_cents: end.cost_cents,
    },
  });
}
