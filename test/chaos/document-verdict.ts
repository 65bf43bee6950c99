/**
 * Checks what a reader finds: for every source one version, complete, once, and not an older one.
 */
import { splitText } from '../../src/pipeline/chunk/split.ts';

import type { Database } from '../../src/store/driver/database.ts';
import { type Statement, sql } from '../../src/store/driver/statement.ts';
import { searchStore } from '../support/search-store.ts';
import { acceptedOf, type Evidence, type Finding } from './verdict.ts';
import {
  caller,
  corpus,
  kindOf,
  markerOf,
  type SourceVersion,
  textOf,
  versionsIn,
} from './workload.ts';

interface ChunkRow {
  readonly source: string;
  readonly chunk_count: number;
  readonly text: string;
  readonly vectors: number;
}

const visibleChunks = sql<ChunkRow>`
  SELECT documents.source, documents.chunk_count, chunks.text,
    (SELECT COUNT(*) FROM vectors WHERE vectors.generation_id = chunks.generation_id
      AND vectors.ordinal = chunks.ordinal) AS vectors
  FROM documents JOIN chunks ON chunks.document_id = documents.id
    AND chunks.generation_id = documents.generation_id
  ORDER BY documents.source, chunks.ordinal`;

/** The number that the workload gave to a source, from its name or its path. */
export function sourceNumber(source: string): number {
  return Number(/source-(\d+)/.exec(source)?.[1]);
}

/** What a reader sees of every source, in one statement and so at one moment. */
export async function readVisible(database: Database): Promise<Map<number, ChunkRow[]>> {
  const rows = await database.run(visibleChunks);
  return Map.groupBy(rows, ({ source }) => sourceNumber(source));
}

export async function judgeDocuments(evidence: Evidence): Promise<Finding[]> {
  const { database } = evidence;
  const findings: Finding[] = [];
  const visible = await readVisible(database);
  for (const [source, range] of expectedVersions(evidence)) {
    const chunks = visible.get(source) ?? [];
    findings.push(...judgeVisible(source, range, chunks));
    const [version = 0] = versionsIn(chunks.map(({ text }) => text).join('\n'));
    findings.push(...(await judgeSearch(database, { source, version })));
  }
  return [...findings, ...(await judgeLeftovers(database))];
}

interface VersionRange {
  /** The newest that was acknowledged and not canceled: nothing older may be shown. */
  least: number;
  /** The newest that was intended: a kill may have prevented its acknowledgement. */
  most: number;
}

function expectedVersions({ entries }: Evidence): Map<number, VersionRange> {
  const canceled = new Set(
    entries.flatMap((entry) => (entry.kind === 'cancel' ? entry.jobKey : [])),
  );
  const ranges = new Map<number, VersionRange>();
  for (const { jobKey, contents } of acceptedOf(entries)) {
    if (canceled.has(jobKey)) continue;
    for (const { source, version } of contents) {
      if (kindOf(source) === 'blank') continue;
      const least = Math.max(version, ranges.get(source)?.least ?? 0);
      ranges.set(source, { least, most: least });
    }
  }
  for (const entry of entries) {
    if (entry.kind !== 'intent') continue;
    for (const { source, version } of entry.contents) {
      const range = ranges.get(source);
      if (range) range.most = Math.max(range.most, version);
    }
  }
  return ranges;
}

function judgeVisible(
  source: number,
  { least, most }: VersionRange,
  chunks: readonly ChunkRow[],
): Finding[] {
  const versions = versionsIn(chunks.map(({ text }) => text).join('\n'));
  const [version] = versions;
  if (version === undefined) return [{ fault: 'lost', what: `nothing of source ${source}` }];
  if (versions.length > 1) {
    return [{ fault: 'mixed', what: `source ${source} shows versions ${versions.join(', ')}` }];
  }
  if (version < least || version > most) {
    const what = `source ${source} shows version ${version}, not ${least} to ${most}`;
    return [{ fault: 'lost', what }];
  }
  return judgeChunks({ source, version }, chunks);
}

function judgeChunks(content: SourceVersion, chunks: readonly ChunkRow[]): Finding[] {
  const expected = splitText(textOf(content)).map(({ text }) => text);
  const shown = chunks.map(({ text }) => text);
  const name = markerOf(content);
  const missing = expected.filter((text) => !shown.includes(text));
  const findings: Finding[] = missing.map(() => ({ fault: 'lost', what: `a chunk of ${name}` }));
  if (shown.length > expected.length || new Set(shown).size < shown.length) {
    const what = `${name}: ${shown.length} of ${expected.length} chunks`;
    findings.push({ fault: 'duplicated', what });
  }
  const withoutVector = chunks.filter(({ vectors }) => vectors !== 1).length;
  if (withoutVector > 0)
    findings.push({ fault: 'lost', what: `${withoutVector} vectors of ${name}` });
  if (chunks[0]?.chunk_count !== chunks.length) {
    findings.push({ fault: 'miscounted', what: `${name} says ${chunks[0]?.chunk_count} chunks` });
  }
  return findings;
}

async function judgeSearch(database: Database, content: SourceVersion): Promise<Finding[]> {
  const query = markerOf(content);
  const hits = await searchStore(database, { caller, corpus, query, topK: 100 });
  const found = hits.filter(({ text }) => text.includes(query)).length;
  const expected = splitText(textOf(content)).length;
  if (found === expected) return [];
  const fault = found < expected ? 'lost' : 'duplicated';
  return [{ fault, what: `a search for ${query} finds ${found} of ${expected} chunks` }];
}

const staleChunks = sql<{ item_id: number; count: number }>`
  SELECT items.id AS item_id, COUNT(*) AS count FROM chunks
  JOIN items ON items.id = chunks.generation_id JOIN documents ON documents.id = chunks.document_id
  WHERE items.step = 'done' AND chunks.generation_id <> documents.generation_id GROUP BY items.id`;
const staleSearch: Readonly<Record<'sqlite' | 'postgres', Statement<{ count: number }>>> = {
  sqlite: sql`SELECT COUNT(*) AS count FROM chunk_search
    WHERE rowid NOT IN (SELECT id FROM chunks)`,
  postgres: sql`SELECT COUNT(*) AS count FROM chunk_search
    WHERE chunk_id NOT IN (SELECT id FROM chunks)`,
};

/** Replaced generations are gone, from the chunks and from the search. */
async function judgeLeftovers(database: Database): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { item_id, count } of await database.run(staleChunks)) {
    const what = `${count} chunks of item ${item_id} are left beside the current ones`;
    findings.push({ fault: 'duplicated', what });
  }
  const [search] = await database.run(staleSearch[database.dialect.name]);
  if (search && search.count > 0) {
    findings.push({ fault: 'duplicated', what: `${search.count} search rows without a chunk` });
  }
  return findings;
}
