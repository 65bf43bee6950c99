import { first, write } from '../driver/query.ts';

export interface ValidatorsRow {
  readonly document_id: string;
  readonly as_of: number;
  /** The address after the last redirect. */
  readonly url: string;
  readonly etag: string | null;
  readonly last_modified: string | null;
  readonly fetched_at: number;
}

/** The validators of the document's current content, and the hash of that content. */
export const currentValidators = first<string, ValidatorsRow & { readonly content_hash: string }>`
  SELECT validators.*, documents.content_hash FROM validators
  JOIN documents ON documents.id = validators.document_id AND documents.as_of = validators.as_of
  WHERE validators.document_id = :document_id`;

export const writeValidators = write<ValidatorsRow>`
  INSERT INTO validators (document_id, as_of, url, etag, last_modified, fetched_at)
  VALUES (:document_id, :as_of, :url, :etag, :last_modified, :fetched_at)
  ON CONFLICT (document_id) DO UPDATE SET as_of = excluded.as_of, url = excluded.url,
    etag = excluded.etag, last_modified = excluded.last_modified, fetched_at = excluded.fetched_at
  WHERE excluded.as_of >= validators.as_of`;
