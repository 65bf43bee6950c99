/**
 * The same work without durability: the same parser, chunker, embedder and entities, and plain
 * inserts into a database without flushes or a journal. A crash would leave a broken file. The
 * difference to Pawl is the price of resuming after a crash.
 */

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { realWorld } from '../../src/app/world.ts';
import { thisProcess } from '../../src/engine/item/liveness.ts';
import { splitText } from '../../src/pipeline/chunk/split.ts';
import type { Extraction } from '../../src/pipeline/entity/extraction.ts';
import { readLexicon } from '../../src/pipeline/entity/lexicon.ts';
import { extractEntities } from '../../src/pipeline/entity/local-extractor.ts';
import { processParser } from '../../src/pipeline/extract/process/process-parser.ts';
import { WordPacker } from '../../src/pipeline/word/word-packer.ts';
import { staticEmbedder } from '../../src/provider/embedding/static-embedder.ts';
import { answer } from '../measure/child.ts';
import { type Reading, rate } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';

interface Request {
  /** Pages to load and compile the code with. */
  readonly warmUp: string;
  readonly pages: string;
  readonly directory: string;
  readonly places: number;
}

await answer<Request>(async ({ warmUp, pages, directory, places }): Promise<Reading[]> => {
  const insert = openInserts(join(directory, 'plain.db'));
  const embedder = staticEmbedder();
  const parser = processParser({ owner: thisProcess(), world: realWorld() });
  const lexicon = await readLexicon();
  const { signal } = new AbortController();
  const work = async (paths: Iterator<string>): Promise<void> => {
    for (let { value: path } = paths.next(); path !== undefined; path = paths.next().value) {
      const bytes = await readFile(path);
      const parsed = await parser.parse({ bytes, mediaType: 'text/html', source: path }, signal);
      const { title, markdown: text } = parsed;
      const chunks = splitText(text);
      const texts = chunks.map(({ heading, text }) => (heading ? `${heading}\n${text}` : text));
      const { vectors } = await embedder.embed(texts, signal);
      const extraction = extractEntities(text, lexicon);
      insert({ path, title: title ?? '', text, chunks, vectors, extraction });
    }
  };
  const ingest = async (folder: string): Promise<number> => {
    const paths = readdirSync(folder).map((name) => join(folder, name));
    const left = paths.values();
    await Promise.all(Array.from({ length: places }, () => work(left)));
    return paths.length;
  };
  await ingest(warmUp);
  let count = 0;
  const usage = await measured(async () => {
    count = await ingest(pages);
  }, undefined);
  return [rate('plain', count, usage, `${places} at once`)];
});

interface Document {
  readonly path: string;
  readonly title: string;
  readonly text: string;
  readonly chunks: ReturnType<typeof splitText>;
  readonly vectors: readonly Uint8Array[];
  readonly extraction: Extraction;
}

function openInserts(path: string): (document: Document) => void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF');
  database.exec(`
    CREATE TABLE documents (id INTEGER PRIMARY KEY, source TEXT, title TEXT, body TEXT);
    CREATE TABLE chunks (id INTEGER PRIMARY KEY, document INTEGER, ordinal INTEGER, key TEXT,
      heading TEXT, text TEXT, start_offset INTEGER, end_offset INTEGER);
    CREATE TABLE vectors (document INTEGER, ordinal INTEGER, model TEXT, vector BLOB,
      PRIMARY KEY (document, ordinal));
    CREATE TABLE entities (document INTEGER, ordinal INTEGER, kind TEXT, name TEXT,
      mentions INTEGER, aliases TEXT, places TEXT, PRIMARY KEY (document, ordinal));
    CREATE TABLE words (document INTEGER PRIMARY KEY, words BLOB);
    CREATE TABLE relations (document INTEGER, one INTEGER, other INTEGER, weight REAL);
    CREATE VIRTUAL TABLE chunk_search USING fts5 (
      title, heading, text, content = '', contentless_delete = 1, tokenize = 'porter unicode61')`);
  const insertDocument = database.prepare(
    'INSERT INTO documents (source, title, body) VALUES (?, ?, ?)',
  );
  const insertChunk = database.prepare('INSERT INTO chunks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)');
  const insertVector = database.prepare('INSERT INTO vectors VALUES (?, ?, ?, ?)');
  const insertWords = database.prepare(
    'INSERT INTO chunk_search (rowid, title, heading, text) VALUES (?, ?, ?, ?)',
  );
  const insertEntity = database.prepare('INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?)');
  const insertPacked = database.prepare('INSERT INTO words VALUES (?, ?)');
  const packer = new WordPacker();
  const insertRelation = database.prepare('INSERT INTO relations VALUES (?, ?, ?, ?)');
  return ({ path: source, title, text, chunks, vectors, extraction }) => {
    database.exec('BEGIN');
    const { lastInsertRowid: document } = insertDocument.run(source, title, text);
    chunks.forEach((chunk, index) => {
      const { key, ordinal, heading, startOffset, endOffset } = chunk;
      const { lastInsertRowid } = insertChunk.run(
        ...[document, ordinal, key, heading, chunk.text, startOffset, endOffset],
      );
      insertVector.run(document, ordinal, 'static', vectors[index] ?? new Uint8Array());
      insertWords.run(lastInsertRowid, title, heading, chunk.text);
    });
    insertPacked.run(document, packer.pack(title, chunks));
    extraction.entities.forEach(({ kind, name, aliases, mentions }, ordinal) => {
      const places = JSON.stringify(mentions);
      insertEntity.run(
        ...[document, ordinal, kind, name, mentions.length, JSON.stringify(aliases), places],
      );
    });
    for (const { one, other, weight } of extraction.relations) {
      insertRelation.run(document, one, other, weight);
    }
    database.exec('COMMIT');
  };
}
