/**
 * Secrets planted in place of real ones, and a search for them in all output: logs, events, errors,
 * metrics, pages. A secret counts as found in every encoding, and if only a part of it was written.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

/** Where a secret may be, each with its own canary, so that a finding shows its origin. */
export const canaryPlaces = [
  'api_key',
  'url_userinfo',
  'query_token',
  'authorization',
  'cookie',
  'provider_key',
  'callback_secret',
  'database_password',
  'document_text',
  'filename',
  'membership_reply',
  'environment',
] as const;

export type CanaryPlace = (typeof canaryPlaces)[number];

export type Canaries = Readonly<Record<CanaryPlace, string>>;

/** One secret for each place: letters and digits, long enough for any key, the same for a seed. */
export function makeCanaries(seed: string): Canaries {
  const secretOf = (place: CanaryPlace): string =>
    `cnry${createHash('sha256').update(`${seed}:${place}`).digest('hex').slice(0, 32)}`;
  return Object.fromEntries(canaryPlaces.map((place) => [place, secretOf(place)])) as Canaries;
}

/** A piece of output, and where it was found. */
export interface Output {
  readonly where: string;
  readonly content: unknown;
}

export interface Leak {
  readonly where: string;
  readonly place: CanaryPlace;
  /** Its encoding: `text`, `base64` or `hex`. */
  readonly form: string;
}

/** Fails with every place and encoding, but without the secrets; also if there was no output. */
export function assertNoCanary(canaries: Canaries, told: readonly Output[]): void {
  assert.ok(told.length > 0, 'there was no output to search');
  const leaks = findCanaries(canaries, told);
  const lines = leaks.map(({ where, place, form }) => `${place} in ${where}, as ${form}`);
  assert.deepEqual(lines, []);
}

export function findCanaries(canaries: Canaries, told: readonly Output[]): Leak[] {
  const forms = canaryPlaces.map((place) => ({ place, forms: formsOf(canaries[place]) }));
  return told.flatMap(({ where, content }) => {
    const text = textsOf(content).join('\n');
    const folded = text.toLowerCase();
    return forms.flatMap(({ place, forms: { plain, hex, base64 } }) => {
      const found: readonly [form: string, isFound: boolean][] = [
        ['text', plain.some((part) => folded.includes(part))],
        ['hex', hex.some((part) => folded.includes(part))],
        ['base64', base64.some((part) => text.includes(part))],
      ];
      return found.filter(([, isFound]) => isFound).map(([form]) => ({ where, place, form }));
    });
  });
}

/** This many characters in a row count as the secret: a truncated key is still a leak. */
const partCharacters = 12;

function formsOf(secret: string) {
  const parts = Array.from({ length: secret.length - partCharacters + 1 }, (_, index) =>
    secret.slice(index, index + partCharacters),
  );
  return {
    // The first four characters are the same for all canaries: parts with them say less.
    plain: parts.slice(4),
    hex: parts.slice(4).map((part) => Buffer.from(part).toString('hex')),
    base64: [0, 1, 2].map((offset) => base64At(secret, offset)),
  };
}

/** As it appears within a longer text, without the characters that depend on its neighbours. */
function base64At(secret: string, offset: number): string {
  const text = Buffer.from('\0'.repeat(offset) + secret).toString('base64');
  return text
    .slice(offset === 0 ? 0 : 4)
    .replace(/.{1,4}=*$/, '')
    .slice(0, 24);
}

/** Every text in a value at any depth: names, messages, causes, bytes, non-enumerable fields. */
function textsOf(value: unknown, seen: Set<object> = new Set()): string[] {
  if (typeof value === 'string') return [value, decoded(value)];
  if (typeof value === 'symbol' || typeof value === 'function') return [String(value)];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    return [Buffer.from(buffer, byteOffset, byteLength).toString('latin1')];
  }
  if (value instanceof URL) return [value.href];
  const inner: unknown[] = value instanceof Map || value instanceof Set ? [...value] : [];
  const own = Reflect.ownKeys(value).flatMap((name) => [String(name), Reflect.get(value, name)]);
  return [...inner, ...own].flatMap((part) => textsOf(part, seen));
}

/** Decodes percent signs and backslashes. */
function decoded(text: string): string {
  return text.replace(/(?:%|\\x|\\u00)([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
