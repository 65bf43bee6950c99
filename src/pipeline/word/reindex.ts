/**
 * Analyzes the words of older generations again, a few documents in each transaction. A search sees
 * a generation by its old or by its new analysis, and finds it by either. The place is stored with
 * each transaction, so a process that is killed continues there.
 */
import { setImmediate } from 'node:timers/promises';
import { limits } from '../../kernel/limits/limits.ts';
import { listTexts } from '../../store/document/contents.ts';
import { lockDocument } from '../../store/document/documents.ts';
import type { Database } from '../../store/driver/database.ts';
import { sweepAlone } from '../../store/driver/sweep-lock.ts';
import {
  type AnalyzedWords,
  advanceReindex,
  beginReindex,
  getReindex,
  listAnalyses,
  setDetectedLanguage,
  type UnanalyzedRow,
  writeWords,
} from '../../store/search/words.ts';
import { analysisVersion } from './analysis.ts';
import { analyzedWords, languageOf } from './analyzed-words.ts';
import { WordPacker } from './word-packer.ts';

interface Analyzed {
  readonly row: UnanalyzedRow;
  readonly words: AnalyzedWords;
  /** Undefined if it is not clear. */
  readonly language: string | undefined;
}

export class WordReindex {
  readonly #database: Database;
  readonly #packer = new WordPacker();
  #isOver = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Runs until all is analyzed, another process does it, or it is stopped. */
  async run(): Promise<void> {
    while (!this.#isOver) {
      // The lock is held for one page, so that no transaction stays open for long.
      const isLast = await sweepAlone(this.#database, 'words', () => this.#runOnce());
      if (isLast === undefined) return;
      this.#isOver ||= isLast;
      await setImmediate();
    }
  }

  stop(): void {
    this.#isOver = true;
  }

  /** True at the end. */
  async #runOnce(): Promise<boolean> {
    const database = this.#database;
    const version = analysisVersion;
    const state = await getReindex(database, version);
    if (!state) {
      await database.write((transaction) => beginReindex(transaction, { version }));
      return false;
    }
    if (state.finished_at !== null) return true;
    const limit = limits.search.reindexPageMax;
    const page = await listAnalyses(database, { after: state.last_document, limit });
    const analyzed: Analyzed[] = [];
    let last = state.last_document;
    let documents = 0;
    let chunks = 0;
    for (const row of page) {
      last = row.id;
      documents += 1;
      if ((row.version ?? 0) >= version) continue;
      analyzed.push(await this.#analyze(row));
      chunks += row.chunk_count;
      if (chunks >= limits.search.mirrorChunksAtOnce) break;
    }
    const isOver = documents === page.length && page.length < limit;
    await database.write(async (transaction) => {
      for (const { row, words, language } of analyzed) {
        // A replacement has its own analysis, and a removed generation needs none.
        if ((await lockDocument(transaction, row.id)) !== row.generation_id) continue;
        await writeWords(transaction, row.generation_id, words);
        if (language) await setDetectedLanguage(transaction, { id: row.id, language });
      }
      const finishedAt = isOver ? database.now() : null;
      await advanceReindex(transaction, { version, lastDocument: last, documents, finishedAt });
    });
    return isOver;
  }

  async #analyze(row: UnanalyzedRow): Promise<Analyzed> {
    const chunks = await listTexts(this.#database, [row.generation_id]);
    await setImmediate();
    const words = await analyzedWords(chunks, row, this.#packer);
    return { row, words, language: languageOf(chunks, row.title) };
  }
}
