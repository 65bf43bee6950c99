/**
 * What sinks contain: which generations are delivered, and the log position of each sink. A row
 * means that a generation is completely in a sink.
 */

import type { CorpusSettings } from '../corpus/settings.ts';
import type { ChunkRow } from '../document/chunks.ts';
import type { DocumentRow } from '../document/documents.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { all, first } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { forgetCursor, raiseCursor, readCursor } from './cursors.ts';

/** Entities are delivered once, without a model. */
export const noModel = '';

const insertDelivery = sqlRows({ generation_id: 'int', sink: 'text', model: 'text' })`
  INSERT INTO sink_deliveries (generation_id, sink, model)
  SELECT :generation_id, :sink, :model {rows} WHERE 1 = 1
  ON CONFLICT (generation_id, sink, model) DO NOTHING`;

export interface SinkDelivery {
  readonly generationId: number;
  readonly sink: string;
  readonly model: string;
}

export async function recordDeliveries(
  transaction: Transaction,
  deliveries: readonly SinkDelivery[],
): Promise<void> {
  await transaction.each(
    insertDelivery,
    deliveries.map(({ generationId, ...rest }) => ({ generation_id: generationId, ...rest })),
  );
}

const delivered = sql<{ model: string }>`
  SELECT model FROM sink_deliveries WHERE generation_id = :generation_id AND sink = :sink`;

/** The models of a generation whose vectors are in a sink. */
export async function deliveredModels(
  reader: Reader,
  generationId: number,
  sink: string,
): Promise<ReadonlySet<string>> {
  const rows = await reader.run(delivered, { generation_id: generationId, sink });
  return new Set(rows.map(({ model }) => model));
}

const forget = sql`DELETE FROM sink_deliveries WHERE sink = :sink`;

/** The sink has lost its content: everything must be delivered again. */
export async function forgetDeliveries(transaction: Transaction, sink: string): Promise<void> {
  await transaction.run(forget, { sink });
  await forgetCursor(transaction, `sink:${sink}`);
}

/** The event up to which the sink is complete. Undefined: not filled yet. */
export function readSinkPlace(reader: Reader, sink: string): Promise<number | undefined> {
  return readCursor(reader, `sink:${sink}`);
}

export async function writeSinkPlace(
  transaction: Transaction,
  sink: string,
  seq: number,
): Promise<void> {
  await raiseCursor(transaction, { name: `sink:${sink}`, seq });
}

const changes = sql<{ seq: number; kind: string; detail: string | null }>`
  SELECT seq, kind, detail FROM events WHERE seq > :after AND kind IN
    ('generation_flipped', 'document_deleted', 'corpus_deleted', 'corpus_reembedded')
  ORDER BY seq LIMIT :limit`;

export interface SinkChange {
  readonly seq: number;
  /** Undefined: a corpus was deleted or has another model. */
  readonly documentId: string | undefined;
  /** The corpus has another model, for all its documents. */
  readonly isTurned: boolean;
  /** Set for a deleted document, which the store no longer knows. */
  readonly deletedFrom: { readonly caller: string; readonly corpus: string } | undefined;
}

export async function listSinkChanges(
  reader: Reader,
  page: { after: number; limit: number },
): Promise<SinkChange[]> {
  const rows = await reader.run(changes, page);
  return rows.map(({ seq, kind, detail }) => {
    const { document_id: documentId, caller, corpus } = detail === null ? {} : JSON.parse(detail);
    return {
      seq,
      documentId,
      isTurned: kind === 'corpus_reembedded',
      deletedFrom: kind === 'document_deleted' ? { caller, corpus } : undefined,
    };
  });
}

type SinkColumns = 'id' | 'caller' | 'corpus' | 'source' | 'title' | 'language';

export type SinkDocumentRow = Pick<DocumentRow, SinkColumns | 'generation_id' | 'as_of'> &
  Pick<CorpusSettings, 'model' | 'next_model'>;

const sinkDocument = `SELECT documents.id, documents.caller, documents.corpus, documents.source,
    documents.title, documents.language, documents.generation_id, documents.as_of,
    corpus_settings.model, corpus_settings.next_model
  FROM documents LEFT JOIN corpus_settings ON corpus_settings.caller = documents.caller
    AND corpus_settings.corpus = documents.corpus`;

/** A document with the current models of its corpus. */
export const getSinkDocument = first<string, SinkDocumentRow>`
  ${sinkDocument} WHERE documents.id = :id`;

/** All documents of all corpora, in pages. */
export const listSinkDocuments = all<{ after: string; limit: number }, SinkDocumentRow>`
  ${sinkDocument} WHERE documents.id > :after ORDER BY documents.id LIMIT :limit`;

const tombstone = sql<{ as_of: number }>`
  SELECT as_of FROM tombstones WHERE document_id = :id`;

/** The newest submission that a deletion covers; 0 if there was none. */
export async function buriedUpTo(reader: Reader, documentId: string): Promise<number> {
  return (await reader.run(tombstone, { id: documentId }))[0]?.as_of ?? 0;
}

const models = sql<{ corpus: string; model: string | null; next_model: string | null }>`
  SELECT DISTINCT corpus, model, next_model FROM corpus_settings`;

export interface DeliveredSize {
  readonly corpus: string;
  readonly model: string;
  readonly documents: number;
  readonly chunks: number;
}

/** How much of the current content of each corpus was delivered to a sink. */
export const listDeliveredSizes = all<string, DeliveredSize>`
  SELECT documents.corpus, sink_deliveries.model, COUNT(*) AS documents,
    CAST(SUM(documents.chunk_count) AS {int}) AS chunks
  FROM sink_deliveries JOIN documents ON documents.generation_id = sink_deliveries.generation_id
  WHERE sink_deliveries.sink = :sink GROUP BY documents.corpus, sink_deliveries.model`;

/** Every corpus with its current model and its next one. */
export async function listCorpusModels(
  reader: Reader,
): Promise<{ corpus: string; model: string }[]> {
  const rows = await reader.run(models);
  return rows.flatMap(({ corpus, model, next_model }) =>
    [model, next_model].flatMap((name) => (name === null ? [] : [{ corpus, model: name }])),
  );
}

export interface VectorChunkRow extends Pick<ChunkRow, 'ordinal' | 'key' | 'heading' | 'text'> {
  readonly vector: Uint8Array | null;
}

/** The chunks of a generation with their vectors of a model, in pages. */
export const listVectorChunks = all<
  { generationId: number; model: string; after: number; limit: number },
  VectorChunkRow
>`
  SELECT chunks.ordinal, chunks.key, chunks.heading, chunks.text, vectors.vector
  FROM chunks LEFT JOIN vectors ON vectors.generation_id = chunks.generation_id
    AND vectors.ordinal = chunks.ordinal AND vectors.model = :model
  WHERE chunks.generation_id = :generationId AND chunks.ordinal > :after
  ORDER BY chunks.ordinal LIMIT :limit`;

interface EntityRow {
  readonly ordinal: number;
  readonly kind: string;
  readonly name: string;
  readonly aliases: string;
  readonly mentions: number;
}

const entities = sql<EntityRow>`
  SELECT ordinal, kind, name, aliases, mentions FROM entities
  WHERE generation_id = :generation_id ORDER BY ordinal`;

export async function listSinkEntities(reader: Reader, generationId: number) {
  const rows = await reader.run(entities, { generation_id: generationId });
  return rows.map((row) => ({ ...row, aliases: JSON.parse(row.aliases) as string[] }));
}

export const listSinkRelations = all<number, { one: number; other: number; weight: number }>`
  SELECT one, other, weight FROM entity_relations
  WHERE generation_id = :generation_id ORDER BY one, other`;
