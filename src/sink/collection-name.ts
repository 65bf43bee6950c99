/**
 * One collection per corpus and model, because all vectors of a collection have one length. Its
 * name contains both and can be parsed. Characters with a meaning in file systems or URLs, and
 * capital letters, are written as `=` and their bytes in hexadecimal.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { CorpusModel } from './sink.ts';

const separator = '~';

export function collectionName(prefix: string, { corpus, model }: CorpusModel): string {
  const name = [prefix, corpus, model].map(encode).join(separator);
  if (name.length <= limits.sink.collectionNameMax) return name;
  const bound = limits.sink.collectionNameMax;
  const message = `the collection for ${model} in ${corpus} would need more than ${bound} letters`;
  throw new Failure('qdrant_refused', `${message}: use a model with a shorter name`);
}

/** Undefined for a foreign collection. */
export function readCollectionName(prefix: string, name: string): CorpusModel | undefined {
  const parts = name.split(separator);
  const [own, corpus, model] = parts.map(decode);
  if (parts.length !== 3 || own !== prefix) return undefined;
  return corpus && model ? { corpus, model } : undefined;
}

function encode(text: string): string {
  return text.replace(/[^a-z0-9._-]/gu, (letter) =>
    [...Buffer.from(letter)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

function decode(text: string): string | undefined {
  if (!/^(?:[a-z0-9._-]|=[0-9a-f]{2})*$/.test(text)) return undefined;
  const bytes = text.replace(/=([0-9a-f]{2})|(.)/g, (_, hex, letter) =>
    hex === undefined ? Buffer.from(letter as string).toString('hex') : hex,
  );
  return Buffer.from(bytes, 'hex').toString();
}
