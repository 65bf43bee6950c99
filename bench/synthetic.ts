/**
 * A store with the requested number of chunks, written without the engine: sentences of the
 * collections in new combinations, so that word frequencies are realistic.
 */
import { metadataText } from '../src/kernel/metadata/metadata.ts';
import { WordPacker } from '../src/pipeline/word/word-packer.ts';
import { staticEmbedder } from '../src/provider/embedding/static-embedder.ts';
import { indexGeneration, insertChunks, insertVectors } from '../src/store/document/chunks.ts';
import { writeMetadata } from '../src/store/document/metadata.ts';
import type { Database, Transaction } from '../src/store/driver/database.ts';
import { sql } from '../src/store/driver/statement.ts';
import { writeWords } from '../src/store/search/words.ts';
import type { Collection } from './collection.ts';

export const synthetic = { caller: 'bench', corpus: 'synthetic' } as const;
const chunksPerDocument = 20;
const documentsPerCommit = 50;
const sentencesPerChunk = 7;

const insertDocument = sql`
  INSERT INTO documents (id, caller, corpus, source, title, language, generation, generation_id,
    as_of, content_hash, chunk_count, text_bytes, created_at, updated_at)
  VALUES (:id, :caller, :corpus, :source, :title, 'en', 1, :generation_id, 0, :id, :chunks, 0, 0,
    0)`;
const insertCorpus = sql`
  INSERT INTO corpora (name, created_at) VALUES (:corpus, 0) ON CONFLICT DO NOTHING`;

export async function fillStore(
  database: Database,
  collections: readonly Collection[],
  size: number,
): Promise<void> {
  const sentences = collections.flatMap(({ documents }) =>
    documents.flatMap(({ text }) =>
      text.split(/(?<=[.!?])\s+/).filter(({ length }) => length > 30),
    ),
  );
  const { corpus } = synthetic;
  await database.write((transaction) => transaction.run(insertCorpus, { corpus }));
  const packer = new WordPacker();
  const random = seeded(3);
  const chunkText = () =>
    Array.from({ length: sentencesPerChunk }, () => sentences[random(sentences.length)]).join(' ');
  for (let first = 0; first < size; first += chunksPerDocument * documentsPerCommit) {
    const documents = Array.from({ length: documentsPerCommit }, (_, index) => ({
      generationId: 1 + first / chunksPerDocument + index,
      texts: Array.from({ length: chunksPerDocument }, chunkText),
    }));
    const rows = await Promise.all(documents.map(embedded));
    await database.write(async (transaction) => {
      for (const row of rows) await insertOne(transaction, row, packer);
    });
  }
}

interface NewDocument {
  readonly generationId: number;
  readonly texts: readonly string[];
}

async function embedded({ generationId, texts }: NewDocument) {
  const { model, embed } = embedder;
  const { vectors } = await embed(texts, AbortSignal.timeout(60_000));
  return { generationId, texts, model, vectors };
}

const embedder = staticEmbedder();

async function insertOne(
  transaction: Transaction,
  { generationId, texts, model, vectors }: Awaited<ReturnType<typeof embedded>>,
  packer: WordPacker,
): Promise<void> {
  const documentId = `d${generationId}`;
  const chunks = texts.map((text, ordinal) => ({
    key: `${documentId}-${ordinal}`,
    ordinal,
    heading: '',
    text,
    startOffset: 0,
    endOffset: text.length,
    tokenCount: text.length >> 2,
  }));
  await insertChunks(transaction, { documentId, generationId }, chunks);
  const vectorRows = vectors.map((vector, ordinal) => ({ ordinal, model, vector }));
  await insertVectors(transaction, generationId, vectorRows);
  const title = texts[0]?.slice(0, 40) ?? '';
  indexGeneration(transaction, generationId);
  const words = packer.pack(title, chunks);
  await writeWords(transaction, generationId, { words, version: 1, language: 'en' });
  await transaction.run(insertDocument, {
    ...synthetic,
    id: documentId,
    source: `inline:${documentId}`,
    title,
    generation_id: generationId,
    chunks: chunks.length,
  });
  const metadata = metadataText({ team: `t${generationId % 200}`, tenth: generationId % 10 });
  await writeMetadata(transaction, { ...synthetic, id: documentId, metadata });
}

/** An integer below the bound, from a seed. */
function seeded(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return Math.floor(((state >>> 8) / 2 ** 24) * bound);
  };
}
