/** Corpora, and the documents in them. */
import { checkPriced } from '../../engine/admission.ts';
import { Failure } from '../../kernel/failure.ts';
import { getCorpusSettings } from '../../store/corpus-settings.ts';
import { getCorpus, listChunks, listCorpora } from '../../store/document-views.ts';
import { type DocumentRow, getDocument, listDocuments } from '../../store/documents.ts';
import { entitiesOfGeneration, listEntities, listRelated } from '../../store/entities.ts';
import { getSpending } from '../../store/spending.ts';
import { keyCursor, limitOf, nameCursor, nextCursor, numberCursor } from '../cursor.ts';
import type { Handlers, Service } from '../service.ts';
import { chunkShape, corpusDetailShape, corpusShape, documentShape } from '../shape.ts';

export function corpusRoutes(service: Service) {
  const { database, commands, embedder } = service;
  return {
    'GET /corpora': async ({ caller: { callerId: caller }, query }) => {
      const limit = limitOf(query);
      const after = nameCursor(query) ?? '';
      const rows = await listCorpora(database, { caller, after, limit });
      const next = nextCursor(rows, limit, ({ name }) => name);
      return { items: rows.map(corpusShape), next_cursor: next };
    },
    'GET /corpora/:name': async ({ caller, params }) =>
      corpusDetail(service, caller.callerId, params.name),
    'POST /corpora/:name/budget': async ({ caller: { callerId: caller }, params, body }) => {
      const { name: corpus } = await ownCorpus(service, caller, params.name);
      const { budget_cents: budgetCents } = body;
      if (budgetCents !== null) checkPriced(service);
      await commands.setCorpusBudget({ caller, corpus, budgetCents });
      return corpusDetail(service, caller, corpus);
    },
    'POST /corpora/:name/reembed': async ({ caller: { callerId: caller }, params, body }) => {
      const { name: corpus } = await ownCorpus(service, caller, params.name);
      const { budget_cents: budgetCents } = body;
      if (budgetCents !== undefined) checkPriced(service);
      const { model } = embedder;
      const jobKey = await commands.reembed({ caller, corpus, model, budgetCents });
      return { name: corpus, job_id: jobKey ?? null };
    },
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
  } satisfies Partial<Handlers>;
}

export function documentRoutes(service: Service) {
  const { database, commands } = service;
  return {
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
  } satisfies Partial<Handlers>;
}

export function entityRoutes(service: Service) {
  const { database } = service;
  return {
    'GET /corpora/:name/entities': async ({ caller: { callerId: caller }, params, query }) => {
      const { name: corpus } = await ownCorpus(service, caller, params.name);
      const filter = { caller, corpus, kind: query.kind, limit: limitOf(query) };
      return { items: await listEntities(database, filter), next_cursor: null };
    },
    'GET /corpora/:name/entities/:entity': async ({ caller: { callerId }, params, query }) => {
      const { name: corpus } = await ownCorpus(service, callerId, params.name);
      const filter = { caller: callerId, corpus, name: params.entity, limit: limitOf(query) };
      const rows = await listRelated(database, filter);
      const items = rows.map(({ weight, ...row }) => ({ ...row, passages: weight }));
      return { items, next_cursor: null };
    },
    'GET /documents/:id/entities': async ({ caller, params, query }) => {
      const { generation_id } = await ownDocument(service, caller.callerId, params.id);
      const filter = { kind: query.kind, limit: limitOf(query) };
      const rows = await entitiesOfGeneration(database, generation_id, filter);
      const items = rows.map(({ kind, name, mentions, aliases, places }) => ({
        ...{ kind, name, mentions },
        aliases: [...aliases],
        places: [...places],
      }));
      return { items, next_cursor: null };
    },
  } satisfies Partial<Handlers>;
}

async function corpusDetail(service: Service, caller: string, name: string) {
  const { database } = service;
  const row = await ownCorpus(service, caller, name);
  const key = { caller, corpus: name };
  const spending = await getSpending(database, key);
  return corpusDetailShape(row, spending, await getCorpusSettings(database, key));
}

/** A corpus in which the caller has nothing is not there. */
export async function ownCorpus(
  { database }: Pick<Service, 'database'>,
  caller: string,
  name: string,
) {
  const row = await getCorpus(database, { caller, name });
  if (row) return row;
  throw new Failure('corpus_unknown', `there is no corpus ${JSON.stringify(name)}`);
}

export async function ownDocument(
  { database }: Service,
  caller: string,
  id: string,
): Promise<DocumentRow> {
  const row = await getDocument(database, id);
  if (row?.caller === caller) return row;
  throw new Failure('document_unknown', `there is no document ${id}`);
}
