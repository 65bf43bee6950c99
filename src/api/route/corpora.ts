/** Corpora, and the documents in them. */
import { Failure } from '../../kernel/failure.ts';
import { getCorpus, listChunks, listEntities, listOwnCorpora } from '../../store/document-views.ts';
import { type DocumentRow, getDocument, listDocuments } from '../../store/documents.ts';
import { keyCursor, limitOf, nextCursor, numberCursor } from '../cursor.ts';
import type { Handlers, Service } from '../service.ts';
import { chunkShape, corpusShape, documentShape } from '../shape.ts';

export function corpusRoutes(service: Service) {
  const { database, commands } = service;
  return {
    'GET /corpora': async ({ caller }) => {
      const rows = await listOwnCorpora(database, caller.callerId);
      return { items: rows.map(corpusShape), next_cursor: null };
    },
    'GET /corpora/:name': async ({ caller, params }) =>
      corpusShape(await ownCorpus(service, caller.callerId, params.name)),
    'DELETE /corpora/:name': async ({ caller, params }) => {
      const { name } = await ownCorpus(service, caller.callerId, params.name);
      return { name, deleted: await commands.deleteCorpus(caller.callerId, name) };
    },
    'GET /corpora/:name/documents': async ({ caller: { callerId: caller }, params, query }) => {
      const { name: corpus } = await ownCorpus(service, caller, params.name);
      const limit = limitOf(query);
      const after = keyCursor(query) ?? '';
      const rows = await listDocuments(database, { caller, corpus, after, limit });
      return {
        items: rows.map(documentShape),
        next_cursor: nextCursor(rows, limit, ({ id }) => id),
      };
    },
    'GET /documents/:id': async ({ caller, params }) =>
      documentShape(await ownDocument(service, caller.callerId, params.id)),
    'DELETE /documents/:id': async ({ caller, params }) => {
      await commands.deleteDocument(caller.callerId, params.id);
      return { document_id: params.id, deleted: true };
    },
    'GET /documents/:id/chunks': async ({ caller, params, query }) => {
      const { generation_id } = await ownDocument(service, caller.callerId, params.id);
      const limit = limitOf(query);
      const after = numberCursor(query) ?? -1;
      const rows = await listChunks(database, { generation_id, after, limit });
      return {
        items: rows.map(chunkShape),
        next_cursor: nextCursor(rows, limit, ({ ordinal }) => ordinal),
      };
    },
    'GET /documents/:id/entities': async ({ caller, params, query }) => {
      const { generation_id } = await ownDocument(service, caller.callerId, params.id);
      const limit = limitOf(query);
      const offset = numberCursor(query) ?? 0;
      const rows = await listEntities(database, { generation_id, offset, limit });
      return {
        items: rows.map(({ kind, name, mentions }) => ({ kind, name, mentions })),
        next_cursor: nextCursor(rows, limit, () => offset + rows.length),
      };
    },
  } satisfies Partial<Handlers>;
}

/** A corpus in which the caller has nothing is not there. */
export async function ownCorpus({ database }: Service, caller: string, name: string) {
  const row = await getCorpus(database, { caller, name });
  if (row) return row;
  throw new Failure('corpus_unknown', `there is no corpus ${JSON.stringify(name)}`);
}

async function ownDocument(
  { database }: Service,
  caller: string,
  id: string,
): Promise<DocumentRow> {
  const row = await getDocument(database, id);
  if (row?.caller === caller) return row;
  throw new Failure('document_unknown', `there is no document ${id}`);
}
