/**
 * Explains why a document is, or is not, in the search results: the state that keeps it out, or its
 * best passage, with the origin of that passage back to the raw bytes.
 */

import type { Item, Why } from '../../contract/schema/schema.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { place } from '../../kernel/lifecycle/item-wait.ts';
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import { isPartlyRead, keptPercent } from '../../kernel/text/kept-share.ts';
import { canonicalUrl, readUrl } from '../../pipeline/fetch/url.ts';
import { getFetch } from '../../store/crawl/fetches.ts';
import { type DocumentRow, getDocument, getMeta } from '../../store/document/documents.ts';
import { documentIdFor } from '../../store/document/names.ts';
import {
  getChunk,
  getNewestItem,
  getValidators,
  isDeleted,
  listChunks,
} from '../../store/document/views.ts';
import { type ItemRow, jobOfItem } from '../../store/item/items.ts';
import { getJobById } from '../../store/job/jobs.ts';
import type { ReadService } from '../service.ts';
import { viewItems } from './item.ts';
import { chunkShape, documentShape, maybeTimeOf, timeOf } from './serializer.ts';

export interface WhyQuestion extends CorpusPlace {
  /** The corpus name in the form that the caller uses. */
  readonly name: string;
  /** The address, or another name of the source. */
  readonly url: string;
  /** With a query: the best passage of the document for it. */
  readonly query?: string | undefined;
}

export async function whyOf(service: ReadService, question: WhyQuestion): Promise<Why> {
  const { database } = service;
  const { caller, corpus } = question;
  const source = sourceOf(question.url);
  const documentId = await documentIdFor(database, { caller, corpus }, source);
  const document = await getDocument(database, documentId);
  const newest = await getNewestItem(database, documentId);
  const [item = null] = newest ? await viewItems(service, [newest]) : [];
  const isGone =
    newest !== undefined &&
    document === undefined &&
    (await isDeleted(database, { documentId, newestItemId: newest.id }));
  const verdict = verdictOf({ document, newest, isGone });
  return {
    corpus_name: question.name,
    url: source,
    verdict,
    explanation: explanations[verdict](document, item),
    document: document ? await shownDocument(service, document, question.name) : null,
    provenance: document ? await provenanceOf(service, document) : null,
    item,
    chunk: document ? await chunkOf(service, document, question) : null,
  };
}

/** An address in the form in which it is stored; other names are unchanged. */
function sourceOf(url: string): string {
  if (!/^https?:\/\//i.test(url)) return url;
  try {
    return canonicalUrl(readUrl(url));
  } catch (error) {
    throw error instanceof Failure ? error : new Failure('invalid_url', `${url} is not an address`);
  }
}

interface DocumentState {
  readonly document: DocumentRow | undefined;
  readonly newest: ItemRow | undefined;
  readonly isGone: boolean;
}

function verdictOf({ document, newest, isGone }: DocumentState): Why['verdict'] {
  if (document) {
    const isNewer = newest !== undefined && newest.id > document.as_of;
    return isNewer && newest.waits_on !== null ? 'replacing' : 'searchable';
  }
  if (newest === undefined) return 'unknown';
  if (isGone) return 'deleted';
  if (newest.step === place.failed) return 'failed';
  return newest.waits_on === null ? 'canceled' : 'pending';
}

type Explain = (document: DocumentRow | undefined, item: Item | null) => string;

const explanations: Readonly<Record<Why['verdict'], Explain>> = {
  searchable: (document, item) => {
    const { generation, chunk_count, kept_share } = document as DocumentRow;
    const chunks = countOf(chunk_count);
    const found = `Version ${generation} is searchable, with ${chunks}.${partOf(kept_share)}`;
    return item?.step === place.failed
      ? `${found} A newer submission is not part of it: ${item.explanation}`
      : found;
  },
  replacing: (document, item) =>
    `Version ${document?.generation} is searchable; a newer version is being processed: ` +
    `${item?.explanation}`,
  pending: (_, item) => `Not searchable yet: ${item?.explanation}`,
  failed: (_, item) => `Not searchable: ${item?.explanation}`,
  canceled: (_, item) => `Not searchable: ${item?.explanation}`,
  deleted: () => 'Not searchable: it was deleted after it was last submitted. Submit it again.',
  unknown: () => 'Not searchable: it was never submitted to this corpus under this name.',
};

function partOf(keptShare: number | null): string {
  if (keptShare === null || !isPartlyRead(keptShare)) return '';
  return ` It was only partly read: ${keptPercent(keptShare)} % of its text was kept.`;
}

function countOf(chunks: number): string {
  return chunks === 1 ? '1 passage' : `${chunks.toLocaleString('en-US')} passages`;
}

async function shownDocument(
  { database }: ReadService,
  document: DocumentRow,
  corpus: string,
): Promise<NonNullable<Why['document']>> {
  return documentShape({ ...document, corpus }, await getMeta(database, document));
}

/** From the current generation back to the raw bytes. */
async function provenanceOf(
  { database }: ReadService,
  document: DocumentRow,
): Promise<NonNullable<Why['provenance']>> {
  const fetched = await getFetch(database, document.generation_id);
  const validators = await getValidators(database, document.id);
  const jobId = await jobOfItem(database, document.generation_id);
  const job = jobId === undefined ? undefined : await getJobById(database, jobId);
  return {
    generation: document.generation,
    content_hash: document.content_hash,
    job_id: job?.key ?? null,
    item_id: document.generation_id,
    blob_key: fetched?.blob_key ?? null,
    media_type: fetched?.media_type ?? null,
    bytes: fetched?.bytes ?? null,
    fetched_from: validators?.url ?? null,
    fetched_at: maybeTimeOf(validators?.fetched_at ?? null),
    indexed_at: timeOf(document.updated_at),
  };
}

/** The best passage for the query, or the first one. */
async function chunkOf(
  { database, searcher }: ReadService,
  document: DocumentRow,
  { caller, corpus, query }: WhyQuestion,
): Promise<Why['chunk']> {
  const { generation_id } = document;
  if (query === undefined) {
    const [first] = await listChunks(database, { generation_id, after: -1, limit: 1 });
    return first ? { ...chunkShape(first), score: null } : null;
  }
  const filter = { documentId: document.id };
  const [hit] = await searcher.search({ caller, corpus, query, filter, topK: 1 });
  const chunk = hit && (await getChunk(database, { generation_id, key: hit.chunkId }));
  return chunk ? { ...chunkShape(chunk), score: hit.score } : null;
}
