/**
 * The metadata that users give their documents: keys with values. What the submitter states wins
 * over what the document states, so that a document cannot change a tag such as its tenant.
 */
import { Failure } from '../failure/failure.ts';
import { limits } from '../limits/limits.ts';

export type MetadataValue = string | number | boolean | readonly string[];
export type Metadata = Readonly<Record<string, MetadataValue>>;

/** Throws `bad_request` with the key and the form it must have. */
export function checkMetadata(given: unknown, what = 'metadata'): Metadata {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw refused(`${what} must be an object of keys and values, such as {"team": "ops"}`);
  }
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  if (entries.length > limits.metadata.keysMax) {
    throw refused(`${what} has ${entries.length} keys; use up to ${limits.metadata.keysMax}`);
  }
  for (const [key, value] of entries) {
    const reason = keyRefusal(key) ?? valueRefusal(value);
    if (reason !== undefined) throw refused(`${what}: the key ${JSON.stringify(key)} ${reason}`);
  }
  const metadata = Object.fromEntries(entries) as Metadata;
  const bytes = bytesOf(metadata);
  if (bytes <= limits.metadata.bytesMax) return metadata;
  throw refused(`${what} has ${bytes} bytes as JSON; use up to ${limits.metadata.bytesMax}`);
}

/** For fields that a document states of itself: keeps those that are valid as metadata. */
export function keepValid(fields: Readonly<Record<string, unknown>>): Metadata {
  const kept: Record<string, MetadataValue> = {};
  let bytes = 0;
  for (const [key, value] of Object.entries(fields)) {
    if (keyRefusal(key) !== undefined || valueRefusal(value) !== undefined) continue;
    bytes += bytesOf({ [key]: value as MetadataValue });
    if (bytes > limits.metadata.bytesMax) break;
    kept[key] = value as MetadataValue;
    if (Object.keys(kept).length === limits.metadata.keysMax) break;
  }
  return kept;
}

/** The stored form: JSON with sorted keys; null if there are none. Equal metadata is equal text. */
export function metadataText(metadata: Metadata | undefined): string | null {
  const entries = Object.entries(metadata ?? {});
  if (entries.length === 0) return null;
  return JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))));
}

export function readMetadata(text: string | null | undefined): Metadata {
  return text == null ? {} : JSON.parse(text);
}

/** Later ones win, key by key. */
export function mergeTexts(...texts: readonly (string | null | undefined)[]): string | null {
  const given = texts.filter((text) => text != null);
  if (given.length <= 1) return given[0] ?? null;
  return metadataText(Object.assign({}, ...given.map(readMetadata)));
}

function keyRefusal(key: string): string | undefined {
  if (limits.metadata.keyPattern.test(key)) return undefined;
  return 'must have 1 to 64 letters, digits, "_", "." or "-", and begin with a letter';
}

function valueRefusal(value: unknown): string | undefined {
  const { listMax } = limits.metadata;
  if (typeof value === 'boolean') return undefined;
  if (typeof value === 'string') return textRefusal(value);
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : 'must have a finite number';
  }
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string')) {
    return 'must have a string, a number, true, false or a list of strings';
  }
  if (value.length > listMax) return `has ${value.length} entries; use up to ${listMax}`;
  return value.map(textRefusal).find((reason) => reason !== undefined);
}

function textRefusal(text: string): string | undefined {
  const { textCharactersMax } = limits.metadata;
  if (text.length > textCharactersMax) {
    return `has a text of ${text.length} characters; use up to ${textCharactersMax}`;
  }
  if (text.isWellFormed() && !text.includes('\0')) return undefined;
  return 'has a text with a NUL character or half a surrogate pair: remove it';
}

function bytesOf(metadata: Metadata): number {
  return new TextEncoder().encode(JSON.stringify(metadata)).length;
}

function refused(message: string): Failure {
  return new Failure('bad_request', message);
}
