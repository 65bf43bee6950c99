/**
 * A reader that reads at random moments. Of each document it sees all chunks of one generation,
 * with the submitted content; a document that once existed still exists.
 */
import { splitText } from '../../src/pipeline/chunk/split.ts';
import { chunkIdOf } from '../../src/store/document/chunks.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { searchStore } from '../support/search-store.ts';
import { callers, corpora, everyWord } from './content.ts';
import type { Setting } from './process.ts';

const current = sql<{
  id: string;
  caller: string;
  corpus: string;
  generation: number;
  generation_id: number;
  chunk_count: number;
  text_hash: string | null;
  content_hash: string;
  body: string | null;
  submitted: string | null;
  keys: string | null;
  vectors: number;
}>`
  SELECT documents.id, documents.caller, documents.corpus, generation, documents.generation_id,
    chunk_count, texts.content_hash AS text_hash, documents.content_hash, texts.body,
    inputs.body AS submitted,
    (SELECT group_concat(key, ' ' ORDER BY ordinal) FROM chunks
      WHERE chunks.generation_id = documents.generation_id) AS keys,
    (SELECT COUNT(*) FROM vectors WHERE vectors.generation_id = documents.generation_id) AS vectors
  FROM documents LEFT JOIN texts ON texts.generation_id = documents.generation_id
  LEFT JOIN inputs ON inputs.item_id = documents.generation_id
  ORDER BY documents.id`;

interface Seen {
  readonly generation: number;
  readonly generation_id: number;
}

export class SimulatedReader {
  readonly #setting: Setting;
  readonly #seen = new Map<string, Seen>();
  readonly #keysOf = new Map<string, string[]>();

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async look(): Promise<void> {
    const { recorder, store } = this.#setting;
    recorder.reads++;
    const rows = await store.run(current);
    const expected = new Map<string, string[]>();
    for (const row of rows) {
      const keys = this.#chunkIds(row.id, row.body ?? '');
      expected.set(row.id, keys);
      const seen = this.#seen.get(row.id);
      this.#seen.set(row.id, row);
      this.#check(row.id, {
        'is one whole generation': keys.length > 0 && (row.keys ?? '') === keys.join(' '),
        'counts its chunks': row.chunk_count === keys.length && row.vectors === keys.length,
        'has the hash of its text': row.text_hash === row.content_hash,
        'says what was submitted': row.body === row.submitted?.trim(),
        'never goes back': this.#isLater(row, seen),
      });
    }
    for (const id of this.#seen.keys()) {
      const isGone = !expected.has(id) && !recorder.deletedDocuments.has(id);
      this.#check(id, { 'once there, stays there': !isGone });
    }
    await this.#search(expected);
  }

  /** After a deletion the numbers start again; but nothing older than the deletion returns. */
  #isLater(row: Seen & { readonly id: string }, seen: Seen | undefined): boolean {
    const deletedAt = this.#setting.recorder.deletions.get(row.id) ?? 0;
    if (row.generation_id <= deletedAt) return false;
    if (!seen || deletedAt >= seen.generation_id) return true;
    // A deletion whose response was lost may have happened.
    const mayBeginAgain = this.#setting.recorder.deletedDocuments.has(row.id);
    const isCounted = mayBeginAgain || row.generation >= seen.generation;
    return row.generation_id >= seen.generation_id && isCounted;
  }

  #check(id: string, findings: Readonly<Record<string, boolean>>): void {
    for (const [finding, holds] of Object.entries(findings)) {
      if (holds) continue;
      this.#setting.recorder.violate('readersSeeOneGeneration', `document ${id}: not "${finding}"`);
    }
  }

  /** Every chunk has this word: searching for it finds each current chunk once, and no other. */
  async #search(expected: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const { random, store } = this.#setting;
    const caller = random.pick(callers);
    const corpus = random.pick(corpora);
    const known = await store.run(corpusOf, { caller, corpus });
    if (known.length === 0) return;
    const hits = await searchStore(store, { caller, corpus, query: everyWord, topK: 100 });
    for (const { id } of known) {
      const found = hits
        .filter(({ documentId }) => documentId === id)
        .map(({ chunkId }) => chunkId);
      const keys = expected.get(id) ?? [];
      this.#check(id, {
        'is found whole': found.sort().join(' ') === [...keys].sort().join(' '),
      });
    }
  }

  #chunkIds(documentId: string, text: string): string[] {
    let keys = this.#keysOf.get(text);
    if (!keys) {
      keys = splitText(text).map(({ key }) => key);
      this.#keysOf.set(text, keys);
    }
    return keys.map((key) => chunkIdOf(documentId, key));
  }
}

const corpusOf = sql<{ id: string }>`
  SELECT id FROM documents WHERE caller = :caller AND corpus = :corpus ORDER BY id`;
