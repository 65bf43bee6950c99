/**
 * The HTTP validators of a page when it was last read. They describe the document's content only
 * while the item that read it is the newest that made or confirmed that content (`as_of`): a page
 * that was read but could not be used must be read again, regardless of its version.
 */
import type { Reader } from '../driver/database.ts';
import { write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

export interface ValidatorsRow {
  readonly document_id: string;
  readonly as_of: number;
  /** The address after the last redirect. */
  readonly url: string;
  readonly etag: string | null;
  readonly last_modified: string | null;
  readonly fetched_at: number;
}

const current = sql<ValidatorsRow & { content_hash: string }>`
  SELECT validators.*, documents.content_hash FROM validators
  JOIN documents ON documents.id = validators.document_id AND documents.as_of = validators.as_of
  WHERE validators.document_id = :document_id`;

/** The validators of the document's current content, and the hash of that content. */
export async function currentValidators(
  reader: Reader,
  documentId: string,
): Promise<(ValidatorsRow & { readonly content_hash: string }) | undefined> {
  return (await reader.run(current, { document_id: documentId }))[0];
}

export const writeValidators = write<ValidatorsRow>`
  INSERT INTO validators (document_id, as_of, url, etag, last_modified, fetched_at)
  VALUES (:document_id, :as_of, :url, :etag, :last_modified, :fetched_at)
  ON CONFLICT (document_id) DO UPDATE SET as_of = excluded.as_of, url = excluded.url,
    etag = excluded.etag, last_modified = excluded.last_modified, fetched_at = excluded.fetched_at
  WHERE excluded.as_of >= validators.as_of`;
