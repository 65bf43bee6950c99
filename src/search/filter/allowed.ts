/**
 * The chunks that a filter allows. The filter is read before the lists, and documents may be
 * replaced in between: all chunks of a document that was replaced since then pass here, and are
 * filtered by their current state when they are read (`getPassages`). So a filtered search also
 * sees the old generation or the new one, never neither.
 */
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Nearest } from '../../sink/sink.ts';
import { newestSequence } from '../../store/delivery/events.ts';
import { listChanges } from '../../store/document/contents.ts';
import type { Database } from '../../store/driver/database.ts';
import { findCandidates } from '../../store/search/metadata-index.ts';
import {
  type AllowedDocument,
  getAllowedDocuments,
  isMatch,
  lastDocumentOf,
  listAllowedChunks,
  listAllowedDocuments,
  type PassageFilter,
  type PlaceRow,
} from '../../store/search/passages.ts';
import { placeKey } from '../fusion.ts';
import type { VectorPlace } from '../vector/partition.ts';
import { checkWhere } from './where-check.ts';

export interface Filtered {
  readonly caller: string;
  readonly corpus: string;
  readonly filter: PassageFilter;
}

export interface Allowed {
  /** For each document, the generation that was current when the filter was read. */
  readonly documents: ReadonlyMap<string, number>;
  isAllowed(place: VectorPlace): boolean;
  /** The same, for an index that knows only generations. */
  within(): NonNullable<Nearest['within']>;
  /** The current filter result if one of these documents has changed, else undefined. */
  renewed(): Promise<Allowed | undefined>;
}

export async function readAllowed(database: Database, filtered: Filtered): Promise<Allowed> {
  const { caller, corpus, filter } = filtered;
  const of = { caller, corpus, filter };
  await checkCondition(database, filtered);
  const after = await newestSequence(database);
  const chunks = filter.heading_pattern === null ? undefined : await readChunks(database, of);
  const documents = chunks
    ? new Map(chunks.map(({ document_id, generation_id }) => [document_id, generation_id]))
    : await readDocuments(database, of);
  const keys = chunks && new Set(chunks.map(placeKey));
  return {
    documents,
    isAllowed: ({ documentId, generationId, ordinal }) => {
      const known = documents.get(documentId);
      if (known === undefined) return false;
      const isOfChunk = keys?.has(placeKey({ generation_id: generationId, ordinal })) ?? true;
      return isOfChunk || known !== generationId;
    },
    within: () =>
      chunks ? { places: chunks.map(toPlace) } : { generations: [...documents.values()] },
    renewed: async () => {
      const changes = await listChanges(database, { after, limit: limits.event.pageMax });
      // An event without a document concerns the whole corpus; beyond a full page anything may
      // follow.
      const isHere = ({ documentId }: { documentId: string | undefined }): boolean =>
        documentId === undefined || documents.has(documentId);
      const isChanged = changes.length === limits.event.pageMax || changes.some(isHere);
      return isChanged ? readAllowed(database, filtered) : undefined;
    },
  };
}

/** Throws if the corpus does not know a key of the condition, or not with such a value. */
export async function checkCondition(database: Database, of: Filtered): Promise<void> {
  if (of.filter.where !== null) await checkWhere(database, of, JSON.parse(of.filter.where));
}

/** The documents that match, each with its current generation. */
export async function readDocuments(
  database: Database,
  of: Filtered,
): Promise<Map<string, number>> {
  const { where } = of.filter;
  const found = where === null ? undefined : await findCandidates(database, of, JSON.parse(where));
  if (found) return readAmong(database, of, [...found]);
  const documents = new Map<string, number>();
  const { allowedPageMax, matchedPageMax } = limits.search;
  const limit = where === null ? allowedPageMax : matchedPageMax;
  const isAllowed = isMatch(of.filter);
  for (let after = '', isFull = true; isFull; ) {
    const page = await listAllowedDocuments(database, { ...of, after, limit });
    for (const row of page) {
      if (isAllowed(row)) documents.set(row.document_id, row.generation_id);
    }
    after = page.at(-1)?.document_id ?? after;
    isFull = page.length === limit;
    await setImmediate();
  }
  return documents;
}

/** Those of the documents that match, each with its current generation. */
export async function readAmong(
  database: Database,
  { caller, corpus, filter }: Filtered,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const documents = new Map<string, number>();
  const isAllowed = isMatch(filter);
  const size = limits.search.matchedPageMax;
  for (let from = 0; from < ids.length; from += size) {
    if (from > 0) await setImmediate();
    const some = { caller, corpus, filter, ids: ids.slice(from, from + size) };
    for (const row of await getAllowedDocuments(database, some)) {
      if (isAllowed(row)) documents.set(row.document_id, row.generation_id);
    }
  }
  return documents;
}

/**
 * Reads every heading. An embedded store responds synchronously, so the loop yields after some
 * documents; otherwise it would block the process for seconds.
 */
async function readChunks(database: Database, of: Filtered) {
  const most = limits.search.allowedChunksMax;
  const { caller, corpus } = of;
  const chunks: (AllowedDocument & PlaceRow)[] = [];
  const isAllowed = oncePerDocument(isMatch(of.filter));
  for (let after = ''; chunks.length <= most; ) {
    const page = { caller, corpus, after, limit: limits.search.mirrorPageMax };
    const last = await lastDocumentOf(database, page);
    if (last === undefined) return chunks;
    const limit = most + 1 - chunks.length;
    const some = await listAllowedChunks(database, { ...of, after, last, limit });
    if (some.length === limit) break;
    for (const chunk of some) if (isAllowed(chunk)) chunks.push(chunk);
    after = last;
    await setImmediate();
  }
  const message = `the headings of more than ${most} passages match: narrow it down`;
  throw new Failure('bad_request', `${message} by more of the heading, or by title or source`);
}

/** The rows of a document follow each other. */
function oncePerDocument(
  isAllowed: (row: AllowedDocument) => boolean,
): (row: AllowedDocument) => boolean {
  let [last, verdict] = ['', false];
  return (row) => {
    if (row.document_id !== last) [last, verdict] = [row.document_id, isAllowed(row)];
    return verdict;
  };
}

function toPlace({ generation_id: generationId, ordinal }: PlaceRow) {
  return { generationId, ordinal };
}
