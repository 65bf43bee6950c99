/** The model addresses of a corpus: one for each use of a remote model. */
import type { OriginUse } from '../../kernel/name/origin.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { all, write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';
import type { CorpusKey } from './settings.ts';

export interface OriginKey extends CorpusKey {
  readonly use: OriginUse;
}

const ofCorpus = 'FROM corpus_origins WHERE caller = :caller AND corpus = :corpus';
const get = sql<{ url: string }>`SELECT url ${ofCorpus} AND purpose = :use`;

export async function getOrigin(
  reader: Reader,
  { caller, corpus, use }: OriginKey,
): Promise<string | undefined> {
  return (await reader.run(get, { caller, corpus, use }))[0]?.url;
}

export interface OriginRow {
  readonly use: OriginUse;
  readonly url: string;
}

export const listOrigins = all<CorpusKey, OriginRow>`
  SELECT purpose AS use, url ${ofCorpus} ORDER BY purpose`;

const insert = 'INSERT INTO corpus_origins (caller, corpus, purpose, url)';
const given = `${insert} VALUES (:caller, :corpus, :use, :url)
  ON CONFLICT (caller, corpus, purpose) DO UPDATE`;
const record = sql<{ url: string }>`${given} SET url = corpus_origins.url RETURNING url`;

/** The first address stays. Returns the recorded one. */
export async function recordOrigin(
  transaction: Transaction,
  { caller, corpus, use, url }: OriginKey & { readonly url: string },
): Promise<string> {
  const [row] = await transaction.run(record, { caller, corpus, use, url });
  return row?.url ?? url;
}

/** A person has accepted another address. */
export const replaceOrigin = write<OriginKey & { readonly url: string }>`
  ${given} SET url = excluded.url`;

/** The next use records its address. */
export const forgetOrigin = write<OriginKey>`DELETE ${ofCorpus} AND purpose = :use`;

export const deleteOrigins = write<CorpusKey>`DELETE ${ofCorpus}`;
