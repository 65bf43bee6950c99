/**
 * What a filter leaves of a corpus. It is read before the lists, and documents are replaced in the
 * meantime: of a document that was replaced since then every chunk is let through, and judged by
 * what it is now when it is shown (`getPassages`). So a search with a filter sees the old
 * generation or the new one, too, never neither.
 */
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Nearest } from '../sink/sink.ts';
import { newestSequence } from '../store/delivery/events.ts';
import { listChanges } from '../store/document/contents.ts';
import type { Database } from '../store/driver/database.ts';
import {
  type AllowedDocument,
  lastDocumentOf,
  listAllowedChunks,
  listAllowedDocuments,
  type PassageFilter,
  type PlaceRow,
} from '../store/search/passages.ts';
import { placeKey } from './fusion.ts';
import type { VectorPlace } from './vector/partition.ts';

export interface Filtered {
  readonly caller: string;
  readonly corpus: string;
  readonly filter: PassageFilter;
}

export interface Allowed {
  /** Of each document, the generation that was current when this was read. */
  readonly documents: ReadonlyMap<string, number>;
  isAllowed(place: VectorPlace): boolean;
  /** The same for who knows generations only. */
  within(): NonNullable<Nearest['within']>;
  /** What is allowed now, if a document of these has changed; undefined: nothing has. */
  renewed(): Promise<Allowed | undefined>;
}

export async function readAllowed(database: Database, filtered: Filtered): Promise<Allowed> {
  const { caller, corpus, filter } = filtered;
  const of = { caller, corpus, filter };
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
      // Without a document it was a whole corpus; and behind a full page there may be anything.
      const isHere = ({ documentId }: { documentId: string | undefined }): boolean =>
        documentId === undefined || documents.has(documentId);
      const isChanged = changes.length === limits.event.pageMax || changes.some(isHere);
      return isChanged ? readAllowed(database, filtered) : undefined;
    },
  };
}

async function readDocuments(database: Database, of: Filtered): Promise<Map<string, number>> {
  const documents = new Map<string, number>();
  const limit = limits.search.allowedPageMax;
  for (let after = '', isFull = true; isFull; ) {
    const page = await listAllowedDocuments(database, { ...of, after, limit });
    for (const row of page) documents.set(row.document_id, row.generation_id);
    after = page.at(-1)?.document_id ?? after;
    isFull = page.length === limit;
    await setImmediate();
  }
  return documents;
}

/**
 * Every heading is looked at. An embedded store answers at once: without a turn for others after
 * some documents, nothing else would happen for seconds.
 */
async function readChunks(database: Database, of: Filtered) {
  const most = limits.search.allowedChunksMax;
  const { caller, corpus } = of;
  const chunks: (AllowedDocument & PlaceRow)[] = [];
  for (let after = ''; chunks.length <= most; ) {
    const page = { caller, corpus, after, limit: limits.search.mirrorPageMax };
    const last = await lastDocumentOf(database, page);
    if (last === undefined) return chunks;
    const limit = most + 1 - chunks.length;
    const some = await listAllowedChunks(database, { ...of, after, last, limit });
    for (const chunk of some) chunks.push(chunk);
    after = last;
    await setImmediate();
  }
  const message = `the headings of more than ${most} passages contain that: narrow it down`;
  throw new Failure('bad_request', `${message} by more of the heading, or by title or source`);
}

function toPlace({ generation_id: generationId, ordinal }: PlaceRow) {
  return { generationId, ordinal };
}
