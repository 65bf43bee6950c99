/**
 * The embedder without server, key or download. A text's vector has two parts. Its words and their
 * four-letter pieces, hashed, find the same words and spellings. The mean of its words' GloVe
 * vectors, weighted towards rare words, finds related words. The second part is English only. This
 * is a lexical embedder with some meaning, not a language model: see
 * docs/decisions/0013-static-word-vectors.md.
 */
import { setImmediate } from 'node:timers/promises';
import { loadOnce } from '../../concurrency/load-once.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { wordCodes } from '../../kernel/text/word-characters.ts';
import type { Embedder } from './embedding.ts';
import { toSignedBytes } from './vector-bytes.ts';
import { firstSeed, mix, readWordVectors, secondSeed, type WordVectors } from './word-vectors.ts';

const asset = new URL('../../../assets/word-vectors.bin', import.meta.url);
const hashedDimensions = 156;
const pieceLength = 4;
/** The weight of a word piece relative to the word. */
const pieceWeight = 0.5;
/** The weight of the meaning relative to the words. */
const meaningWeight = 1;
/** A word that is not in the table is rare. */
const unknownWeight = 1;
/** Words below this weight are skipped: they are the twenty most frequent ones. */
const weightMin = 0.05;
const halfWeightShare = 2e-4;
const edgeCode = 0x7f;

/** The table is read with the first text: a command that embeds nothing does not wait for it. */
export function staticEmbedder(path: string | URL = asset): Embedder {
  const summing = loadOnce(async () => {
    // Loading takes about 50 ms, in its own turn of the event loop.
    await setImmediate();
    const read = new Summing(readWordVectors(path));
    await setImmediate();
    return read;
  });
  const turns = new Turns();
  return {
    model: 'static-256',
    knows: async (word) => (await summing()).knows(word),
    async embed(texts, signal) {
      const { vectorOf } = await summing();
      const vectors: Uint8Array[] = [];
      for (const text of texts) {
        // A single text is a query or a short document: it need not wait behind long ones.
        if (texts.length > 1) await turns.taken();
        signal.throwIfAborted();
        vectors.push(vectorOf(text));
        turns.count(text.length);
      }
      return { vectors, tokensIn: 0, costCents: 0 };
    },
  };
}

/** Yields to the event loop after a number of characters, counted over all callers. */
class Turns {
  #characters = 0;
  #next: Promise<void> | undefined;

  count(characters: number): void {
    this.#characters += characters;
  }

  async taken(): Promise<void> {
    while (this.#characters >= limits.text.embeddedAtOnceCharacters) {
      this.#next ??= setImmediate().then(() => {
        this.#characters = 0;
        this.#next = undefined;
      });
      await this.#next;
    }
  }
}

/** Zipf's law gives the frequency of a word; rare words weigh more. */
function weightOf(rank: number): number {
  const share = 1 / ((rank + 2.7) * 12.5);
  return halfWeightShare / (halfWeightShare + share);
}

/** Sums up one text after another in the same buffers. */
class Summing {
  readonly #words: WordVectors;
  readonly #weights: Float32Array;
  readonly #isWord = wordCodes();
  readonly #hashed = new Float64Array(hashedDimensions);
  readonly #meaning: Float64Array;
  readonly #vector: Float64Array;

  constructor(words: WordVectors) {
    this.#words = words;
    this.#meaning = new Float64Array(words.dimensions);
    this.#vector = new Float64Array(hashedDimensions + words.dimensions);
    this.#weights = Float32Array.from({ length: words.count }, (_, rank) => weightOf(rank + 1));
  }

  readonly vectorOf = (text: string): Uint8Array => {
    this.#hashed.fill(0);
    this.#meaning.fill(0);
    const lower = text.toLowerCase();
    let start = -1;
    for (let index = 0; index <= lower.length; index++) {
      if (index < lower.length && this.#isWord(lower.charCodeAt(index))) {
        if (start < 0) start = index;
      } else if (start >= 0) {
        this.#addWord(lower, start, index);
        start = -1;
      }
    }
    return this.#quantised();
  };

  /** Whether the table has the word, in lower case. */
  knows(word: string): boolean {
    const { first, second } = hashesOf(word, 0, word.length);
    return this.#words.find(first, second) >= 0;
  }

  #addWord(text: string, start: number, end: number): void {
    const { first, second } = hashesOf(text, start, end);
    const word = this.#words.find(first, second);
    const weight = word < 0 ? unknownWeight : (this.#weights[word] as number);
    if (weight < weightMin) return;
    this.#addHash(first, weight);
    if (end - start >= pieceLength) this.#addPieces(text, start, end, weight * pieceWeight);
    if (word >= 0) this.#addMeaning(word);
  }

  /** The four-letter pieces of the word, with a mark at its start and end. */
  #addPieces(text: string, start: number, end: number, weight: number): void {
    let piece = edgeCode;
    for (let index = start; index <= end; index++) {
      const code = index < end ? text.charCodeAt(index) : edgeCode;
      piece = (piece << 8) ^ code ^ (code >>> 8);
      if (index - start >= pieceLength - 2)
        this.#addHash(mix(Math.imul(piece, 0x9e3779b1)), weight);
    }
  }

  #addHash(hash: number, weight: number): void {
    const place = (hash >>> 1) % hashedDimensions;
    // The sign comes from another bit, so that collisions cancel out on average.
    this.#hashed[place] = (this.#hashed[place] as number) + (hash & 1 ? weight : -weight);
  }

  #addMeaning(word: number): void {
    const { dimensions, components, scales } = this.#words;
    const scale = scales[word] as number;
    const meaning = this.#meaning;
    const start = word * dimensions;
    for (let index = 0; index < dimensions; index++) {
      meaning[index] = (meaning[index] as number) + scale * (components[start + index] as number);
    }
  }

  /** Both parts at unit length, concatenated. */
  #quantised(): Uint8Array {
    const vector = this.#vector;
    copyScaled(this.#hashed, vector, { start: 0, length: 1 });
    copyScaled(this.#meaning, vector, { start: hashedDimensions, length: meaningWeight });
    return toSignedBytes(vector);
  }
}

function hashesOf(text: string, start: number, end: number) {
  let first = firstSeed;
  let second = secondSeed;
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code, 0x01000193);
  }
  return { first: mix(first), second: mix(second) };
}

function copyScaled(
  part: Float64Array,
  vector: Float64Array,
  { start, length }: { start: number; length: number },
): void {
  let sum = 0;
  for (let index = 0; index < part.length; index++) sum += (part[index] as number) ** 2;
  const factor = sum === 0 ? 0 : length / Math.sqrt(sum);
  for (let index = 0; index < part.length; index++) {
    vector[start + index] = (part[index] as number) * factor;
  }
}
