/**
 * Verifies messages that say that a source has changed. Two forms are taken: that of Standard
 * Webhooks, whose signature covers an id and a time, and `X-Hub-Signature-256` of git hosts, which
 * covers the body only.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { limits } from '../kernel/limits/limits.ts';

export interface Message {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * What identifies the message, so that it counts once. Undefined: it is not signed with the
 * secret, or its time is not about now.
 */
export function signalOf(
  { headers, body }: Message,
  { secret, now }: { readonly secret: string; readonly now: number },
): string | undefined {
  const header = (name: string): string => String(headers[name] ?? '');
  const [id, at] = [header('webhook-id'), header('webhook-timestamp')];
  if (id !== '' && /^\d{1,12}$/.test(at)) {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const mac = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest();
    const isSigned = header('webhook-signature')
      .split(' ')
      .map((given) => isSame(Buffer.from(given.replace(/^v1,/, ''), 'base64'), mac))
      .includes(true);
    const isRecent = Math.abs(now - Number(at) * 1000) <= limits.sync.signalClockMsMax;
    return isSigned && isRecent ? digestOf(`id ${id}`) : undefined;
  }
  const given = header('x-hub-signature-256').replace(/^sha256=/, '');
  const mac = createHmac('sha256', secret).update(body).digest();
  return isSame(Buffer.from(given, 'hex'), mac) ? digestOf(`body ${given}`) : undefined;
}

function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Of a fixed length, unlike the text of the sender. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
