/**
 * Finds documents by their metadata. A condition is looked up in `document_metadata`, which is
 * ordered by corpus, key, kind and value: that yields the documents it may match, and
 * `kernel/metadata/where.ts` decides. So all databases agree on every condition.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Condition, Scalar, Where } from '../../kernel/metadata/where.ts';
import { indexedValue, type KindName, valueKinds } from '../document/metadata.ts';
import type { Reader } from '../driver/database.ts';
import { all } from '../driver/query.ts';
import { type Parameters, type Statement, sql } from '../driver/statement.ts';

export interface CorpusOf {
  readonly caller: string;
  readonly corpus: string;
}

interface Found {
  readonly document_id: string;
}

const ofKey = 'corpus = :corpus AND caller = :caller AND key = :key';
const withValue = (value: string) => sql<Found>`
  SELECT document_id FROM document_metadata WHERE ${ofKey} AND ${value} LIMIT :limit`;
const anyValue = withValue('kind > 0');
const numberBetween = withValue('kind = :kind AND number BETWEEN :low AND :high');
const text = `kind = ${valueKinds.string} AND number = 0`;
const textAmong = withValue(`${text} AND text {amongKeys}`);
const textFrom = withValue(`${text} AND text >= :low`);
const textTo = withValue(`${text} AND text <= :high`);

/**
 * The ids of all documents that may match, or undefined if they are more than the limit or if the
 * index does not narrow the search. Many conditions that each match many documents would take
 * longer than reading all documents once, so their lookups share one budget.
 */
export function findCandidates(
  reader: Reader,
  of: CorpusOf,
  where: Where,
): Promise<ReadonlySet<string> | undefined> {
  const budget = { rows: limits.search.candidateRowsMax };
  return candidatesOf({ reader, of, budget }, where);
}

interface Lookup {
  readonly reader: Reader;
  readonly of: CorpusOf;
  /** Rows that may still be read. */
  readonly budget: { rows: number };
}

async function candidatesOf(
  lookup: Lookup,
  where: Where,
): Promise<ReadonlySet<string> | undefined> {
  if ('not' in where) return undefined;
  if ('and' in where) {
    let best: ReadonlySet<string> | undefined;
    for (const part of where.and) {
      const found = await candidatesOf(lookup, part);
      if (found && (!best || found.size < best.size)) best = found;
    }
    return best;
  }
  if ('or' in where) {
    const union = new Set<string>();
    for (const part of where.or) {
      const found = await candidatesOf(lookup, part);
      if (!found) return undefined;
      for (const id of found) union.add(id);
      if (union.size > limits.search.candidateDocumentsMax) return undefined;
    }
    return union;
  }
  return matchesOf(lookup, where);
}

async function matchesOf(
  { reader, of, budget }: Lookup,
  { key, op, values }: Condition,
): Promise<ReadonlySet<string> | undefined> {
  if (op === '!=') return undefined;
  const limit = limits.search.candidateDocumentsMax + 1;
  const found = new Set<string>();
  for (const { statement, parameters } of statementsOf(op, values)) {
    if (budget.rows <= 0) return undefined;
    const rows = await reader.run(statement, { ...of, key, limit, ...parameters });
    budget.rows -= rows.length + limits.search.candidateLookupRows;
    for (const { document_id } of rows) found.add(document_id);
    if (rows.length >= limit || found.size >= limit) return undefined;
  }
  return found;
}

interface Asked {
  readonly statement: Statement<Found>;
  readonly parameters: Parameters;
}

function statementsOf(op: Condition['op'], values: readonly Scalar[]): Asked[] {
  if (op === 'exists') return [{ statement: anyValue, parameters: {} }];
  const distinct = [...new Set(values)];
  const texts = distinct.filter((value) => typeof value === 'string');
  const others = distinct.filter((value) => typeof value !== 'string').map(indexedValue);
  if (op === '=' || op === 'in') {
    const keys = JSON.stringify(texts);
    return [
      ...(texts.length > 0 ? [{ statement: textAmong, parameters: { keys } }] : []),
      ...others.map(({ kind, number }) => between(kind, number, number)),
    ];
  }
  const isBelow = op === '<' || op === '<=';
  const most = Number.MAX_VALUE;
  return [
    ...others.map(({ kind, number }) =>
      isBelow ? between(kind, -most, number) : between(kind, number, most),
    ),
    ...texts.map((bound): Asked => {
      if (isBelow) return { statement: textTo, parameters: { high: bound } };
      return { statement: textFrom, parameters: { low: bound } };
    }),
  ];
}

function between(kind: number, low: number, high: number): Asked {
  return { statement: numberBetween, parameters: { kind, low, high } };
}

const presentKinds = all<CorpusOf & { key: string }, { kind: number }>`
  SELECT kinds.kind FROM (SELECT 1 AS kind UNION ALL SELECT 2 UNION ALL SELECT 3) AS kinds
  WHERE EXISTS (SELECT 1 FROM document_metadata WHERE ${ofKey}
    AND document_metadata.kind = kinds.kind)`;

/** The types of the values that documents of a corpus have for a key. */
export async function kindsOfKey(reader: Reader, of: CorpusOf, key: string): Promise<KindName[]> {
  const rows = await presentKinds(reader, { ...of, key });
  const names = Object.keys(valueKinds) as KindName[];
  return names.filter((name) => rows.some(({ kind }) => kind === valueKinds[name]));
}

// From key to key by the index: reading all rows would take long in a large corpus.
const inCorpus = 'corpus = :corpus AND caller = :caller';
const keysOf = all<CorpusOf & { limit: number }, { key: string }>`
  WITH RECURSIVE keys (key) AS (
    SELECT MIN(key) FROM document_metadata WHERE ${inCorpus}
    UNION ALL
    SELECT (SELECT MIN(key) FROM document_metadata WHERE ${inCorpus} AND key > keys.key)
    FROM keys WHERE keys.key IS NOT NULL
  ) SELECT key FROM keys WHERE key IS NOT NULL LIMIT :limit`;

/** The metadata keys of a corpus, in order. */
export async function listMetadataKeys(
  reader: Reader,
  of: CorpusOf,
  limit: number = limits.metadata.keysListedMax,
): Promise<string[]> {
  return (await keysOf(reader, { ...of, limit })).map(({ key }) => key);
}
