/**
 * A key is known by its SHA-256 alone: the hash is what is compared, cached and told. The key
 * itself is held for as long as a request takes, and goes to nobody but Membership.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';

export interface KeyHash {
  readonly digest: Buffer;
  readonly hex: string;
  /** The first 16 hexadecimal digits: the caller's id where Membership gives no other. */
  readonly callerId: string;
}

export function hashKey(key: string): KeyHash {
  // Of all the ways to both forms, the quickest by far: every request comes through here.
  const hex = hash('sha256', key, 'hex');
  return { digest: Buffer.from(hex, 'hex'), hex, callerId: hex.slice(0, 16) };
}

/** What cannot be a key is refused before anybody is asked about it. */
export function isKeyShaped(key: string): boolean {
  return key.length <= limits.key.charactersMax && /^[\x21-\x7e]+$/.test(key);
}

/** Compares with all of them, whichever matches, so that the time taken tells nothing. */
export function isAmong(hash: KeyHash, digests: readonly Buffer[]): boolean {
  let found = false;
  for (const digest of digests) found = timingSafeEqual(hash.digest, digest) || found;
  return found;
}

/** The digest in `sha256:HEX`. What was given is not repeated: it may be the key itself. */
export function readKeyHash(text: string): Buffer {
  const [, hex] = /^sha256:([0-9a-f]{64})$/i.exec(text) ?? [];
  if (hex !== undefined) return Buffer.from(hex, 'hex');
  const message = 'a static key must be given as sha256: and 64 hexadecimal digits';
  throw new Failure('usage_error', `${message}, the hash of the key and not the key itself`);
}

export function checkInternalKey(key: string): string {
  const { internalCharactersMin: least, charactersMax: most } = limits.key;
  if (isKeyShaped(key) && key.length >= least) return key;
  throw new Failure(
    'usage_error',
    `the internal key must have ${least} to ${most} printable characters and no spaces`,
  );
}
