/**
 * A key is identified only by its SHA-256: the hash is compared, cached and logged. The key itself
 * is held for the time of a request, and sent only to Membership.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';

export interface KeyHash {
  readonly digest: Buffer;
  readonly hex: string;
  /** The first 16 hexadecimal digits: the caller's id if Membership gives no other. */
  readonly callerId: string;
}

export function hashKey(key: string): KeyHash {
  // The fastest way to both forms: every request runs this.
  const hex = hash('sha256', key, 'hex');
  return { digest: Buffer.from(hex, 'hex'), hex, callerId: hex.slice(0, 16) };
}

/** Refuses malformed keys before any lookup. */
export function isKeyShaped(key: string): boolean {
  return key.length <= limits.key.charactersMax && /^[\x21-\x7e]+$/.test(key);
}

/** Compares with all of them, even after a match, so that timing reveals nothing. */
export function isAmong(hash: KeyHash, digests: readonly Buffer[]): boolean {
  let found = false;
  for (const digest of digests) found = timingSafeEqual(hash.digest, digest) || found;
  return found;
}

export interface StaticKey {
  readonly digest: Buffer;
  /** The caller of this key. Several keys may have one name. */
  readonly name?: string | undefined;
}

/** The key with this hash. All are compared, for the same reason. */
export function findStatic(hash: KeyHash, keys: readonly StaticKey[]): StaticKey | undefined {
  let found: StaticKey | undefined;
  for (const key of keys) if (timingSafeEqual(hash.digest, key.digest)) found ??= key;
  return found;
}

export const staticKeyPattern =
  /^(?:([\x21-\x2b\x2d-\x3c\x3e-\x7e]{1,128})=)?sha256:([0-9a-f]{64})$/i;

/**
 * Reads `sha256:HEX` with an optional name in front. The input is not repeated in errors: it may be
 * the key itself.
 */
export function readStaticKey(text: string): StaticKey {
  const [, name, hex] = staticKeyPattern.exec(text) ?? [];
  if (hex !== undefined) return { digest: Buffer.from(hex, 'hex'), name };
  const message = 'give a static key as sha256: and 64 hexadecimal digits';
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
