/**
 * A key is known by its SHA-256 alone: the hash is what is compared, cached and told. The key
 * itself is held for as long as a request takes, and goes to nobody but Membership.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';

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

export interface StaticKey {
  readonly digest: Buffer;
  /** The caller that the key leads to. Several keys may have one name. */
  readonly name?: string | undefined;
}

/** The key of this hash. All are compared, for the same reason. */
export function findStatic(hash: KeyHash, keys: readonly StaticKey[]): StaticKey | undefined {
  let found: StaticKey | undefined;
  for (const key of keys) if (timingSafeEqual(hash.digest, key.digest)) found ??= key;
  return found;
}

export const staticKeyPattern =
  /^(?:([\x21-\x2b\x2d-\x3c\x3e-\x7e]{1,128})=)?sha256:([0-9a-f]{64})$/i;

/**
 * The digest in `sha256:HEX`, and the name in front of it. What was given is not repeated: it may
 * be the key itself.
 */
export function readStaticKey(text: string): StaticKey {
  const [, name, hex] = staticKeyPattern.exec(text) ?? [];
  if (hex !== undefined) return { digest: Buffer.from(hex, 'hex'), name };
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
