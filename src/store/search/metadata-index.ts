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
import { sql } from '../driver/statement.ts';

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
 * index does not narrow the search.
 */
export async function findCandidates(
  reader: Reader,
  of: CorpusOf,
  where: Where,
): Promise<ReadonlySet<string> | undefined> {
  if ('not' in where) return undefined;
  if ('and' in where) {
    let best: ReadonlySet<string> | undefined;
    for (const part of where.and) {
      const found = await findCandidates(reader, of, part);
      if (found && (!best || found.size < best.size)) best = found;
    }
    return best;
  }
  if ('or' in where) {
    const union = new Set<string>();
    for (const part of where.or) {
      const found = await findCandidates(reader, of, part);
      if (!found) return undefined;
      for (const id of found) union.add(id);
      if (union.size > limits.search.candidateDocumentsMax) return undefined;
    }
    return union;
  }
  return candidatesOf(reader, of, where);
}

async function candidatesOf(
  reader: Reader,
  of: CorpusOf,
  { key, op, values }: Condition,
): Promise<ReadonlySet<string> | undefined> {
  if (op === '!=') return undefined;
  const limit = limits.search.candidateDocumentsMax + 1;
  const at = { ...of, key, limit };
  const lookups = op === 'exists' ? [reader.run(anyValue, at)] : lookupsOf(reader, at, op, values);
  const found = new Set<string>();
  for (const rows of await Promise.all(lookups)) {
    for (const { document_id } of rows) found.add(document_id);
    if (rows.length >= limit || found.size >= limit) return undefined;
  }
  return found;
}

type KeyAt = CorpusOf & { readonly key: string; readonly limit: number };

function lookupsOf(
  reader: Reader,
  at: KeyAt,
  op: Condition['op'],
  values: readonly Scalar[],
): Promise<Found[]>[] {
  const texts = values.filter((value) => typeof value === 'string');
  const others = values.filter((value) => typeof value !== 'string').map(indexedValue);
  const lookups: Promise<Found[]>[] = [];
  if (op === '=' || op === 'in') {
    if (texts.length > 0) {
      lookups.push(reader.run(textAmong, { ...at, keys: JSON.stringify(texts) }));
    }
    for (const { kind, number } of others) {
      lookups.push(reader.run(numberBetween, { ...at, kind, low: number, high: number }));
    }
    return lookups;
  }
  const isBelow = op === '<' || op === '<=';
  for (const { kind, number } of others) {
    const most = Number.MAX_VALUE;
    const range = isBelow ? { low: -most, high: number } : { low: number, high: most };
    lookups.push(reader.run(numberBetween, { ...at, kind, ...range }));
  }
  for (const bound of texts) {
    lookups.push(
      isBelow
        ? reader.run(textTo, { ...at, high: bound })
        : reader.run(textFrom, { ...at, low: bound }),
    );
  }
  return lookups;
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
  limit: number = limits.metadata.facetValuesMax,
): Promise<string[]> {
  return (await keysOf(reader, { ...of, limit })).map(({ key }) => key);
}

export interface FacetCount {
  readonly value: Scalar;
  /** Documents with the value; a document with a list counts for each of its entries. */
  readonly documents: number;
}

const facet = all<
  CorpusOf & { key: string; limit: number },
  { kind: number; number: number; text: string; documents: number }
>`
  SELECT kind, number, text, COUNT(*) AS documents FROM document_metadata
  WHERE ${ofKey} GROUP BY kind, number, text
  ORDER BY documents DESC, kind, number, text LIMIT :limit`;

/** The values of a key in a corpus with their number of documents, most frequent first. */
export async function countFacet(reader: Reader, of: CorpusOf, key: string): Promise<FacetCount[]> {
  const limit = limits.metadata.facetValuesMax;
  const rows = await facet(reader, { ...of, key, limit });
  return rows.map((row) => ({ value: valueFrom(row), documents: Number(row.documents) }));
}

function valueFrom(row: { kind: number; number: number; text: string }): Scalar {
  if (row.kind === valueKinds.string) return row.text;
  return row.kind === valueKinds.boolean ? row.number === 1 : row.number;
}
