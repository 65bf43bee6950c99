/** `--meta KEY=VALUE`, any number of times. */
import { Failure } from '../kernel/failure/failure.ts';
import { checkMetadata, type Metadata, type MetadataValue } from '../kernel/metadata/metadata.ts';
import { usageError } from './command.ts';

/**
 * A value that is valid JSON has its type: `year=2025` is a number, `draft=false` a boolean,
 * `tags=["a","b"]` a list, `code="007"` a text. Anything else is a text. A key that is given
 * several times has a list of texts.
 */
export function metadataOf(flag: unknown): Metadata | undefined {
  if (!Array.isArray(flag)) return undefined;
  const texts = new Map<string, string[]>();
  for (const given of flag as readonly string[]) {
    const at = given.indexOf('=');
    if (at < 1) throw usageError(`--meta needs KEY=VALUE, such as team=ops, not ${given}`);
    const key = given.slice(0, at).trim();
    texts.set(key, [...(texts.get(key) ?? []), given.slice(at + 1)]);
  }
  const metadata = Object.fromEntries(
    Array.from(texts, ([key, values]) => [key, valueFrom(values)] as const),
  );
  try {
    return checkMetadata(metadata, '--meta');
  } catch (error) {
    throw error instanceof Failure ? usageError(error.message) : error;
  }
}

function valueFrom(values: readonly string[]): MetadataValue {
  const [only = ''] = values;
  return values.length === 1 ? typed(only) : values.map((text) => String(typed(text)));
}

function typed(text: string): MetadataValue {
  try {
    const value: unknown = JSON.parse(text);
    // A list with something else than texts is refused by the check, with its key.
    if (value !== null) return value as MetadataValue;
  } catch {
    return text; // Not JSON: a text as it is.
  }
  return text;
}
