/**
 * The words of each corpus as they are now, held in memory. Those of a large corpus take a while to
 * read; that is done beside the searches, and until then the database answers by its own index.
 */
import { limits } from '../../kernel/limits.ts';
import { type CurrentRow, listTexts } from '../../store/contents.ts';
import type { Database } from '../../store/database.ts';
import { countChunks } from '../../store/passages.ts';
import { type Copy, type CopyOf, Follower } from '../follower.ts';
import { WordIndex } from './word-index.ts';

interface Corpus {
  readonly caller: string;
  readonly corpus: string;
}

export class WordMirror {
  readonly #database: Database;
  readonly #follower: Follower<WordCopy>;
  /** Corpora that are being read. */
  readonly #reading = new Map<string, Promise<unknown>>();
  readonly #atOnceMax: number;

  constructor(database: Database, atOnceMax: number = limits.search.wordsAtOnceMax) {
    this.#database = database;
    this.#atOnceMax = atOnceMax;
    this.#follower = new Follower(database, () => new WordCopy(database));
  }

  /** Works with the index of the corpus; undefined while that is too much to wait for. */
  async use<T>(of: Corpus, work: (index: WordIndex) => T): Promise<T | undefined> {
    const copyOf = { caller: of.caller, corpus: of.corpus, kind: 'words' };
    if (!this.#follower.isLoaded(copyOf)) {
      const key = JSON.stringify([of.caller, of.corpus]);
      if (this.#reading.has(key)) return undefined;
      const chunks = await countChunks(this.#database, of);
      if (chunks > limits.search.wordsChunksMax) return undefined;
      if (chunks > this.#atOnceMax) {
        this.#readBeside(copyOf, key);
        return undefined;
      }
    }
    return this.#follower.use(copyOf, ({ index }) => work(index));
  }

  #readBeside(copyOf: CopyOf, key: string): void {
    const isOver = () => this.#reading.delete(key);
    // A reading that failed is begun again by the next search; if the store was closed, by none.
    const reading = this.#follower.use(copyOf, () => undefined).then(isOver, isOver);
    this.#reading.set(key, reading);
  }

  /** When nothing is being read any more. */
  async whenRead(): Promise<void> {
    await Promise.all(this.#reading.values());
  }
}

class WordCopy implements Copy {
  readonly #database: Database;
  index = new WordIndex();

  constructor(database: Database) {
    this.#database = database;
  }

  documentIds(): string[] {
    return this.index.documentIds();
  }

  generationOf(documentId: string): number | undefined {
    return this.index.generationOf(documentId);
  }

  async put(rows: readonly CurrentRow[]): Promise<void> {
    const generationIds = rows.map(({ generation_id }) => generation_id);
    const texts = await listTexts(this.#database, generationIds);
    const byGeneration = Map.groupBy(texts, ({ generation_id }) => generation_id);
    for (const { id, generation_id: generationId, title } of rows) {
      const own = byGeneration.get(generationId) ?? [];
      this.index.put({ id, generationId, title: title ?? '' }, own);
    }
  }

  remove(documentId: string): void {
    this.index.remove(documentId);
  }

  release(): void {
    this.index = new WordIndex();
  }
}
