/**
 * The current words of each corpus in memory. Loading a large corpus is slow; worth it from the
 * second search on. So the first search reads the words of all chunks and keeps only its own terms.
 * The second one starts loading all of them in the background; until that is done, searches run
 * like the first. All use the same code, so the hits are the same. If another process has saved
 * the words of a large corpus, the first search reads them from its file.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { analysisVersion, legacy } from '../../pipeline/word/analysis.ts';
import { analyzedWords } from '../../pipeline/word/analyzed-words.ts';
import { WordPacker } from '../../pipeline/word/word-packer.ts';
import { type CurrentRow, listTexts } from '../../store/document/contents.ts';
import type { Database } from '../../store/driver/database.ts';
import { countChunks } from '../../store/search/passages.ts';
import { type GenerationWordsRow, getReindex, listWords } from '../../store/search/words.ts';
import { type Copy, type CopyOf, Follower } from '../follower.ts';
import type { SavedCopies } from '../saved/saved-copies.ts';
import { WordIndex } from './word-index.ts';

interface Corpus {
  readonly caller: string;
  readonly corpus: string;
}

export interface WordMirrorOptions {
  /** A search waits while the words of this many chunks are loaded, but not for more. */
  readonly atOnceMax?: number | undefined;
  /** If present, copies of large corpora are saved for other processes. */
  readonly saved?: SavedCopies | undefined;
}

export class WordMirror {
  readonly #database: Database;
  readonly #saved: SavedCopies | undefined;
  readonly #follower: Follower<WordCopy>;
  /** Corpora that are being loaded. */
  readonly #reading = new Map<string, Promise<unknown>>();
  /** Corpora that were searched before. */
  readonly #searched = new Set<string>();
  readonly #atOnceMax: number;
  /** When the analysis of older generations ended; nullish before. */
  #finished: number | null | undefined;

  constructor(database: Database, { atOnceMax, saved }: WordMirrorOptions = {}) {
    this.#database = database;
    this.#atOnceMax = atOnceMax ?? limits.search.wordsAtOnceMax;
    this.#saved = saved;
    this.#follower = new Follower(database, () => new WordCopy(database), saved);
  }

  /** Announces a search. A corpus that is searched again is loaded. */
  async prepare(of: Corpus): Promise<void> {
    const copyOf = await this.#copyOf(of);
    const key = JSON.stringify([of.caller, of.corpus]);
    if (this.#follower.isLoaded(copyOf) || this.#reading.has(key)) return;
    // A forgotten corpus counts as new.
    if (this.#searched.size > limits.search.mirrorPartitionsMax) this.#searched.clear();
    if (!this.#searched.has(key)) {
      this.#searched.add(key);
      return;
    }
    const isLarge = (await this.#sizeOf(of)) === 'many';
    if (isLarge && !this.#reading.has(key)) this.#readBeside(copyOf, key);
  }

  /** Loads the large corpora that were searched and that no process has saved: saves them. */
  async keep(): Promise<void> {
    for (const key of this.#saved ? this.#searched : []) {
      const [caller, corpus] = JSON.parse(key) as [string, string];
      const copyOf = await this.#copyOf({ caller, corpus });
      if (await this.#isToSave(copyOf)) await this.#follower.use(copyOf, () => undefined);
    }
  }

  async #isToSave(of: CopyOf): Promise<boolean> {
    const saved = this.#saved;
    if (!saved || this.#follower.isLoaded(of) || (await saved.isRecent(of))) return false;
    const chunks = await countChunks(this.#database, of);
    return chunks >= saved.chunksMin && chunks <= limits.search.wordsChunksMax;
  }

  /**
   * Runs `work` with an index in which these terms can be searched; all can if they are held.
   * Undefined if there are too many words to scan.
   */
  async use<T>(
    of: Corpus,
    terms: () => readonly string[],
    work: (index: WordIndex) => T,
  ): Promise<T | undefined> {
    const copyOf = await this.#copyOf(of);
    const isAtHand = this.#follower.isLoaded(copyOf) || (await this.#saved?.isRecent(copyOf));
    const size = isAtHand ? 'few' : await this.#sizeOf(of);
    if (size === 'too many') return undefined;
    // A private copy for these terms only.
    const create = () => new WordCopy(this.#database, terms());
    const follower = size === 'few' ? this.#follower : new Follower(this.#database, create);
    return follower.use(copyOf, ({ index }) => work(index));
  }

  /**
   * After the words of older generations were analyzed again, a new copy is read. A large one is
   * read in the background, and the old copy is searched until then.
   */
  async #copyOf({ caller, corpus }: Corpus): Promise<CopyOf> {
    // It finishes once.
    this.#finished ??= (await getReindex(this.#database, analysisVersion))?.finished_at;
    const finished = this.#finished;
    const before = { caller, corpus, kind: 'words' };
    if (finished == null || finished === 0) return before;
    const after = { caller, corpus, kind: `words ${finished}` };
    const isRead = this.#follower.isLoaded(after) || !this.#follower.isLoaded(before);
    if (isRead || (await this.#sizeOf(after)) === 'few') return after;
    const key = JSON.stringify([caller, corpus]);
    if (!this.#reading.has(key)) this.#readBeside(after, key);
    return before;
  }

  async #sizeOf(of: Corpus): Promise<'few' | 'many' | 'too many'> {
    const chunks = await countChunks(this.#database, of);
    if (chunks > limits.search.wordsChunksMax) return 'too many';
    return chunks > this.#atOnceMax ? 'many' : 'few';
  }

  #readBeside(copyOf: CopyOf, key: string): void {
    const isOver = () => this.#reading.delete(key);
    // A failed load is started again by the next search; not if the store was closed.
    const reading = this.#follower.use(copyOf, () => undefined).then(isOver, isOver);
    this.#reading.set(key, reading);
  }

  /** Resolves when nothing is being loaded. */
  async whenRead(): Promise<void> {
    await Promise.all(this.#reading.values());
  }
}

type PackedWords = Pick<GenerationWordsRow, 'words' | 'language'>;

/** For a document that was removed after it was listed: its event is still to come. */
const noWords: PackedWords = { words: new Uint8Array(0), language: null };

class WordCopy implements Copy {
  readonly #database: Database;
  #packer: WordPacker | undefined;
  index: WordIndex;

  constructor(database: Database, only?: readonly string[]) {
    this.#database = database;
    this.index = new WordIndex(only);
  }

  get saveable(): WordIndex {
    return this.index;
  }

  async put(rows: readonly CurrentRow[]): Promise<void> {
    const ids = rows.map(({ generation_id }) => generation_id);
    const stored = await listWords(this.#database, ids);
    const packed = new Map<number, PackedWords>(stored.map((row) => [row.generation_id, row]));
    const others = rows.filter(({ generation_id }) => !packed.has(generation_id));
    if (others.length > 0) await this.#pack(others, packed);
    for (const { id, generation_id } of rows) {
      const { words, language } = packed.get(generation_id) ?? noWords;
      this.index.put(id, generation_id, words, language ?? legacy);
    }
  }

  /** Generations without packed words, which are older: packed here from their texts. */
  async #pack(rows: readonly CurrentRow[], packed: Map<number, PackedWords>): Promise<void> {
    this.#packer ??= new WordPacker();
    const ids = rows.map(({ generation_id }) => generation_id);
    const texts = await listTexts(this.#database, ids);
    const byGeneration = Map.groupBy(texts, ({ generation_id }) => generation_id);
    for (const { generation_id, title } of rows) {
      const own = byGeneration.get(generation_id) ?? [];
      const text = { title, language: null };
      packed.set(generation_id, await analyzedWords(own, text, this.#packer));
    }
  }

  release(): void {
    this.index = new WordIndex();
  }
}
