/**
 * Authenticates services to each other: every request is signed with the internal key, which itself
 * is never sent. The signature covers the time, the method, the path and the digest of the body, so
 * that a recorded request cannot be used for anything else, and expires soon.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { limits } from '../kernel/limits/limits.ts';

export const signatureHeader = 'x-pawl-signature';
export const digestHeader = 'x-pawl-digest';

export interface Signed {
  readonly method: string;
  /** Including the query, exactly as sent. */
  readonly path: string;
  /** SHA-256 of the body, in hexadecimal. */
  readonly digest: string;
}

export function digestOf(body: string | Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

function signatureFor(key: string, signed: Signed, now: number): string {
  const at = Math.floor(now / 1000);
  return `t=${at},v1=${macOf(key, signed, at).toString('hex')}`;
}

/** Whether the signature matches this key, this request and about this time. */
export function isSignedBy(
  key: string,
  signed: Signed,
  { signature, now }: { signature: string; now: number },
): boolean {
  const [, at = '', mac = ''] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  const expected = macOf(key, signed, Number(at));
  const given = Buffer.from(mac, 'hex');
  const isSame = given.length === expected.length && timingSafeEqual(given, expected);
  return isSame && Math.abs(now - Number(at) * 1000) <= limits.handoff.clockMsMax;
}

function macOf(key: string, { method, path, digest }: Signed, at: number): Buffer {
  return createHmac('sha256', key).update(`${at}\n${method}\n${path}\n${digest}`).digest();
}

/** The headers that sign a request. */
export function signedHeaders(
  key: string,
  { method, path, body }: { method: string; path: string; body: string },
  now: number,
): Record<string, string> {
  const digest = digestOf(body);
  return {
    [digestHeader]: digest,
    [signatureHeader]: signatureFor(key, { method, path, digest }, now),
  };
}
