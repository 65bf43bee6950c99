/** The words of each corpus as they are now, held in memory. */
import { type CurrentRow, listTexts } from '../../store/contents.ts';
import type { Database } from '../../store/database.ts';
import { type Copy, Follower } from '../follower.ts';
import { WordIndex } from './word-index.ts';

export class WordMirror {
  readonly #follower: Follower<WordCopy>;

  constructor(database: Database) {
    this.#follower = new Follower(database, () => new WordCopy(database));
  }

  /** Works with the index of the corpus. */
  use<T>(of: { caller: string; corpus: string }, work: (index: WordIndex) => T): Promise<T> {
    return this.#follower.use({ ...of, kind: 'words' }, ({ index }) => work(index));
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
