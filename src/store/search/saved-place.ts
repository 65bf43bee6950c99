/** Where in the history of the store a copy was saved, and what has happened since. */
import { newestSequence } from '../delivery/events.ts';
import { contentKinds } from '../document/contents.ts';
import type { Reader } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

const eventAt = sql<{ at: number; kind: string; detail: string | null }>`
  SELECT at, kind, detail FROM events WHERE seq = :seq`;

/**
 * Identifies the history up to an event: another store, or an older version of this one, has no
 * event of this number, or another one. Undefined if the history does not reach it. Null if the
 * event is gone, because its job ended long ago.
 */
export async function stampOf(reader: Reader, seq: number): Promise<string | null | undefined> {
  if ((await newestSequence(reader)) < seq) return undefined;
  const [row] = await reader.run(eventAt, { seq });
  return row ? JSON.stringify([row.at, row.kind, row.detail]) : null;
}

const changesAfter = sql<{ count: number; removals: number | null }>`
  SELECT COUNT(*) AS count, CAST(SUM(is_removal) AS {int}) AS removals FROM (
    SELECT CASE WHEN kind IN ('document_deleted', 'corpus_deleted') THEN 1 ELSE 0 END AS is_removal
    FROM events WHERE seq > :after AND kind IN ${contentKinds} ORDER BY seq LIMIT :limit) AS page`;

export interface ChangesSince {
  readonly count: number;
  /** Of these, deletions of documents or corpora. */
  readonly removals: number;
}

/** Changes of the current content of any corpus, counted up to a limit. */
export async function countChanges(
  reader: Reader,
  page: { after: number; limit: number },
): Promise<ChangesSince> {
  const [row] = await reader.run(changesAfter, page);
  return { count: row?.count ?? 0, removals: row?.removals ?? 0 };
}
