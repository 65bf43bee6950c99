/**
 * Refuses conditions that cannot mean what they say: a key that no document of the corpus has, or a
 * value of a type that none of its documents has for the key. They would find nothing, or
 * everything, without a word.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import {
  type Condition,
  conditionsOf,
  type Scalar,
  type Where,
} from '../../kernel/metadata/where.ts';
import { closestOf } from '../../kernel/text/closest-name.ts';
import type { KindName } from '../../store/document/metadata.ts';
import type { Reader } from '../../store/driver/database.ts';
import { type CorpusOf, kindsOfKey, listMetadataKeys } from '../../store/search/metadata-index.ts';

export async function checkWhere(reader: Reader, of: CorpusOf, where: Where): Promise<void> {
  const known = new Map<string, readonly KindName[]>();
  for (const condition of conditionsOf(where)) {
    const { key } = condition;
    const kinds = known.get(key) ?? (await kindsOfKey(reader, of, key));
    known.set(key, kinds);
    if (kinds.length === 0) throw await unknownKey(reader, of, key);
    const wrong = condition.values.find((value) => !kinds.includes(kindOf(value)));
    if (wrong !== undefined) throw mismatch(of, condition, { wrong, kinds });
  }
}

/** Throws for the first key that no document of the corpus has. */
export async function checkKeys(
  reader: Reader,
  of: CorpusOf,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    if ((await kindsOfKey(reader, of, key)).length === 0) throw await unknownKey(reader, of, key);
  }
}

async function unknownKey(reader: Reader, of: CorpusOf, key: string): Promise<Failure> {
  const keys = await listMetadataKeys(reader, of);
  const missing = `no document of ${of.corpus} has the metadata key ${JSON.stringify(key)}`;
  if (keys.length === 0) return refused(`${missing}: its documents have no metadata`);
  const { keysToldMax } = limits.metadata;
  const others = keys.length > keysToldMax ? ', …' : '';
  const list = `${keys.slice(0, keysToldMax).join(', ')}${others}`;
  return refused(`${missing}; the closest one is ${closestOf(key, keys)} (its keys: ${list})`);
}

function kindOf(value: Scalar): KindName {
  return typeof value as KindName;
}

const nouns: Readonly<Record<KindName, string>> = {
  number: 'numbers',
  boolean: 'true or false',
  string: 'texts',
};

function mismatch(
  { corpus }: CorpusOf,
  { key, op }: Condition,
  { wrong, kinds }: { readonly wrong: Scalar; readonly kinds: readonly KindName[] },
): Failure {
  const held = kinds.map((kind) => nouns[kind]).join(' and ');
  const written = `${key} ${op} ${JSON.stringify(wrong)}`;
  const message = `${written} compares with ${one(wrong)}, but ${key} has ${held} in ${corpus}`;
  const better = corrected(wrong, kinds);
  return refused(better === undefined ? message : `${message}: write ${key} ${op} ${better}`);
}

function one(value: Scalar): string {
  return { number: 'a number', boolean: 'true or false', string: 'a text' }[kindOf(value)];
}

/** The same value in a type that the key has, if there is one. */
function corrected(value: Scalar, kinds: readonly KindName[]): string | undefined {
  if (typeof value !== 'string') {
    return kinds.includes('string') ? JSON.stringify(String(value)) : undefined;
  }
  const text = value.trim();
  const isNumber = kinds.includes('number') && text !== '' && Number.isFinite(Number(text));
  if (isNumber) return text;
  const isBoolean = kinds.includes('boolean') && /^(?:true|false)$/i.test(text);
  return isBoolean ? text.toLowerCase() : undefined;
}

function refused(message: string): Failure {
  return new Failure('bad_request', message);
}
