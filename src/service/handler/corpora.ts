/** Corpora and their documents. */

import { checkAccess, unknownCorpus } from '../../access/corpus-directory.ts';
import { listVisibleCorpora, visibleCorpus } from '../../access/visible-corpora.ts';
import { checkPriced } from '../../engine/command/admission.ts';
import { type CorpusOrigins, readOrigins } from '../../engine/command/origins.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { nameFor } from '../../kernel/name/corpus-name.ts';
import { type Chunking, readChunking } from '../../kernel/text/chunking.ts';
import { analysisVersion } from '../../pipeline/word/analysis.ts';
import { type CorpusAccess, listShares } from '../../store/corpus/access.ts';
import { countToChunk } from '../../store/corpus/rechunking.ts';
import { getCorpusSettings } from '../../store/corpus/settings.ts';
import {
  type DocumentRow,
  getDocument,
  getMeta,
  listDocuments,
} from '../../store/document/documents.ts';
import { entitiesOfGeneration, listEntities, listRelated } from '../../store/document/entities.ts';
import { getChunk, listChunks, listSections } from '../../store/document/views.ts';
import { getSpending } from '../../store/money/spending.ts';
import { getReindex } from '../../store/search/words.ts';
import { keyCursor, limitOf, nameCursor, nextPage, numberCursor } from '../cursor.ts';
import type { StoreHandlers, StoreService } from '../service.ts';
import { chunkShape, corpusDetailShape, corpusShape, documentShape } from '../view/serializer.ts';

export function corpusRoutes(service: StoreService) {
  const { commands, embedder } = service;
  return {
    'GET /corpora': async ({ caller, query }) => {
      const limit = limitOf(query);
      const page = { after: nameCursor(query) ?? '', limit };
      const rows = await listVisibleCorpora(service, caller.callerId, page);
      return { items: rows.map(corpusShape), ...nextPage(rows, limit, ({ name }) => name) };
    },
    'GET /corpora/:name': async ({ caller, params }) =>
      corpusDetail(service, caller.callerId, params.name),
    'POST /corpora/:name/budget': async ({ caller: { callerId: caller }, params, body }) => {
      const { row } = await ownCorpus(service, caller, params.name, 'write');
      const { budget_cents: budgetCents } = body;
      if (budgetCents !== null) checkPriced(service);
      await commands.setCorpusBudget({ caller, corpus: row.name, budgetCents });
      return corpusDetail(service, caller, row.name);
    },
    'POST /corpora/:name/reembed': async ({ caller: { callerId: caller }, params, body }) => {
      const { row } = await ownCorpus(service, caller, params.name, 'own');
      const { budget_cents: budgetCents } = body;
      if (budgetCents !== undefined) checkPriced(service);
      const { model, origin } = embedder;
      const input = { caller, corpus: row.name, model, origin, budgetCents };
      return { name: row.name, job_id: (await commands.reembed(input)) ?? null };
    },
    'GET /corpora/:name/origins': async ({ caller: { callerId: caller }, params }) => {
      const { place, row } = await ownCorpus(service, caller, params.name);
      const origins = await readOrigins(service.database, place, service.origins);
      return { name: row.name, ...listsOf(origins) };
    },
    'POST /corpora/:name/origins': async ({ caller: { callerId: caller }, params }) => {
      const { place, row } = await ownCorpus(service, caller, params.name, 'own');
      const origins = await commands.acceptOrigins(place, service.origins);
      return { name: row.name, ...listsOf(origins) };
    },
    'DELETE /corpora/:name': async ({ caller, params }) => {
      const { place, row } = await ownCorpus(service, caller.callerId, params.name, 'own');
      const deleted = await commands.deleteCorpus(place.caller, place.corpus);
      service.corpora.forget();
      return { name: row.name, deleted };
    },
    'GET /corpora/:name/documents': async ({ caller: { callerId: caller }, params, query }) => {
      const { place, row } = await ownCorpus(service, caller, params.name);
      const limit = limitOf(query);
      const after = keyCursor(query) ?? '';
      const page = { ...place, after, limit, partlyRead: query.partly_read };
      const rows = await listDocuments(service.database, page);
      return {
        items: rows.map(({ meta, ...document }) =>
          documentShape({ ...document, corpus: row.name }, meta),
        ),
        ...nextPage(rows, limit, ({ id }) => id),
      };
    },
  } satisfies Partial<StoreHandlers>;
}

export function chunkingRoutes(service: StoreService) {
  const { commands } = service;
  return {
    'POST /corpora/:name/chunking': async ({ caller: { callerId: caller }, params, body }) => {
      const { row } = await ownCorpus(service, caller, params.name, 'own');
      const { chunk_tokens: tokensMax, chunk_overlap_tokens: overlapTokens } = body;
      const { budget_cents: budgetCents } = body;
      if (budgetCents !== undefined) checkPriced(service);
      const change = { tokensMax, overlapTokens };
      const input = { caller, corpus: row.name, change, budgetCents };
      const { chunking, jobKey } = await commands.rechunk(input);
      return { name: row.name, ...chunkingShape(chunking), job_id: jobKey ?? null };
    },
  } satisfies Partial<StoreHandlers>;
}

export function documentRoutes(service: StoreService) {
  const { database, commands } = service;
  return {
    'GET /documents/:id': async ({ caller: { callerId: caller }, params }) => {
      const row = await ownDocument(service, caller, params.id);
      const meta = await getMeta(database, row);
      return documentShape({ ...row, corpus: nameFor(caller, row) }, meta);
    },
    'DELETE /documents/:id': async ({ caller: { callerId: caller }, params }) => {
      const row = await ownDocument(service, caller, params.id, 'write');
      await commands.deleteDocument(row.caller, params.id);
      return { document_id: params.id, deleted: true };
    },
    'POST /corpora/:name/documents/delete': async ({ caller, params, body }) => {
      const { place, row } = await ownCorpus(service, caller.callerId, params.name, 'write');
      const deleted = await commands.deleteDocuments(place, body.document_ids);
      return { name: row.name, deleted };
    },
    'GET /documents/:id/outline': async ({ caller, params, query }) => {
      const { generation_id } = await ownDocument(service, caller.callerId, params.id);
      const limit = limitOf(query);
      const after = numberCursor(query) ?? -1;
      const rows = await listSections(database, { generation_id, after, limit });
      const items = rows.map(({ key, ...row }) => ({ ...row, chunk_id: key }));
      return { items, ...nextPage(rows, limit, ({ ordinal }) => ordinal) };
    },
    'GET /documents/:id/chunks': async ({ caller, params, query }) => {
      const { generation_id } = await ownDocument(service, caller.callerId, params.id);
      const limit = limitOf(query);
      const after =
        numberCursor(query) ?? (await beforeChunk(database, generation_id, query.around));
      const rows = await listChunks(database, { generation_id, after, limit });
      return { items: rows.map(chunkShape), ...nextPage(rows, limit, ({ ordinal }) => ordinal) };
    },
  } satisfies Partial<StoreHandlers>;
}

/** How many chunks before the wanted one show where it stands. */
const chunksBefore = 10;

/** The place to read from, so that the chunk and some before it are on the page. */
async function beforeChunk(
  database: StoreService['database'],
  generation_id: number,
  key: string | undefined,
): Promise<number> {
  const chunk = key === undefined ? undefined : await getChunk(database, { generation_id, key });
  return Math.max((chunk?.ordinal ?? 0) - chunksBefore, 0) - 1;
}

export function entityRoutes(service: StoreService) {
  const { database } = service;
  return {
    'GET /corpora/:name/entities': async ({ caller, params, query }) => {
      const { place } = await ownCorpus(service, caller.callerId, params.name);
      const filter = { ...place, kind: query.kind, limit: limitOf(query) };
      return { items: await listEntities(database, filter), next_cursor: null };
    },
    'GET /corpora/:name/entities/:entity': async ({ caller, params, query }) => {
      const { place } = await ownCorpus(service, caller.callerId, params.name);
      const filter = { ...place, name: params.entity, limit: limitOf(query) };
      const rows = await listRelated(database, filter);
      const items = rows.map(({ weight, ...row }) => ({ ...row, passages: weight }));
      return { items, next_cursor: null };
    },
    'GET /documents/:id/entities': async ({ caller, params, query }) => {
      const { generation_id } = await ownDocument(service, caller.callerId, params.id);
      const filter = { kind: query.kind, limit: limitOf(query) };
      const rows = await entitiesOfGeneration(database, generation_id, filter);
      const items = rows.map(({ kind, name, mentions, aliases, places }) => ({
        kind,
        name,
        mentions,
        aliases: [...aliases],
        places: [...places],
      }));
      return { items, next_cursor: null };
    },
  } satisfies Partial<StoreHandlers>;
}

function listsOf({ recorded, configured }: CorpusOrigins) {
  return { recorded: [...recorded], configured: [...configured] };
}

async function corpusDetail(service: StoreService, caller: string, name: string) {
  const { database } = service;
  const { place, row, access } = await ownCorpus(service, caller, name);
  // The budget belongs to each caller; the model belongs to the corpus.
  const own = { caller, corpus: row.name };
  const spending = await getSpending(database, own);
  const { budget_cents } = await getCorpusSettings(database, own);
  const { chunking, ...ofPlace } = await getCorpusSettings(database, place);
  const chunked = {
    ...chunkingShape(readChunking(chunking)),
    documents_to_chunk: await countToChunk(database, { ...place, chunking }),
  };
  const settings = { ...ofPlace, ...chunked, budget_cents };
  const shares = access === 'own' ? await listShares(database, place) : [];
  const detail = corpusDetailShape(row, spending, { ...settings, access, shares });
  return { ...detail, word_analysis: await analysisProgress(database) };
}

function chunkingShape({ tokensMax, overlapTokens }: Chunking) {
  return { chunk_tokens: tokensMax, chunk_overlap_tokens: overlapTokens };
}

/** Null if the words of all documents are analyzed. */
async function analysisProgress(database: StoreService['database']) {
  const state = await getReindex(database, analysisVersion);
  if (!state || state.finished_at !== null) return null;
  const { documents_done, documents_total } = state;
  return { documents_done, documents_total };
}

/** A corpus is unknown to a caller that has nothing in it and no share of it. */
export async function ownCorpus(
  { database, corpora }: Pick<StoreService, 'database' | 'corpora'>,
  caller: string,
  name: string,
  needed: CorpusAccess = 'read',
) {
  const found = await corpora.find(caller, name, needed);
  const row = await visibleCorpus(database, found);
  if (!row) throw unknownCorpus(name);
  return { place: { caller: found.caller, corpus: found.corpus }, row, access: found.access };
}

export async function ownDocument(
  { database, corpora }: Pick<StoreService, 'database' | 'corpora'>,
  caller: string,
  id: string,
  needed: CorpusAccess = 'read',
): Promise<DocumentRow> {
  const row = await getDocument(database, id);
  const access = row && (await corpora.accessTo(caller, row));
  if (!row || !access) throw new Failure('document_unknown', `there is no document ${id}`);
  checkAccess(access, needed, `document ${id}`);
  return row;
}
