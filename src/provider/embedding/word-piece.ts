/**
 * The tokenizer of BERT and its descendants: words are normalized, split at punctuation, then into
 * the longest pieces in the vocabulary. Reads `vocab.txt`, or a `tokenizer.json` of type WordPiece.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../kernel/failure/failure.ts';

const wordCharactersMax = 100;
const continuation = '##';

export interface WordPieceOptions {
  readonly isLowerCase: boolean;
  /** The maximum tokens of a text, including the special ones at both ends. */
  readonly tokensMax: number;
}

export class WordPiece {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #options: WordPieceOptions;
  readonly #unknown: number;
  readonly #first: number;
  readonly #last: number;
  readonly padding: number;

  constructor(ids: ReadonlyMap<string, number>, options: WordPieceOptions) {
    this.#ids = ids;
    this.#options = options;
    this.#unknown = this.#special('[UNK]');
    this.#first = this.#special('[CLS]');
    this.#last = this.#special('[SEP]');
    this.padding = this.#special('[PAD]');
  }

  /** The token ids of a text between the special tokens, truncated to the model's limit. */
  encode(text: string): number[] {
    const room = this.#options.tokensMax - 2;
    const pieces: number[] = [];
    for (const word of wordsOf(this.#clean(text))) {
      if (pieces.length >= room) break;
      pieces.push(...this.#piecesOf(word));
    }
    return [this.#first, ...pieces.slice(0, room), this.#last];
  }

  #clean(text: string): string {
    const plain = text.replace(/[\p{Cc}\p{Cf}\ufffd]/gu, (sign) => (/\s/.test(sign) ? ' ' : ''));
    if (!this.#options.isLowerCase) return plain;
    // Lowercasing also removes accents: such models were trained this way.
    return plain
      .toLowerCase()
      .normalize('NFD')
      .replace(/\p{Mn}/gu, '');
  }

  #piecesOf(word: string): number[] {
    const letters = [...word];
    if (letters.length > wordCharactersMax) return [this.#unknown];
    const pieces: number[] = [];
    for (let start = 0; start < letters.length; ) {
      let end = letters.length;
      let id: number | undefined;
      for (; end > start && id === undefined; end -= 1) {
        const piece = letters.slice(start, end).join('');
        id = this.#ids.get(start === 0 ? piece : `${continuation}${piece}`);
      }
      if (id === undefined) return [this.#unknown];
      pieces.push(id);
      start = end + 1;
    }
    return pieces;
  }

  #special(name: string): number {
    const id = this.#ids.get(name);
    if (id !== undefined) return id;
    throw new Failure('bad_request', `the vocabulary of the model has no ${name}`);
  }
}

/** Words; each punctuation mark and each Chinese character is a word of its own. */
const wordOrSign =
  /[\p{P}\p{S}\u3400-\u9fff\uf900-\ufaff]|[^\s\p{P}\p{S}\u3400-\u9fff\uf900-\ufaff]+/gu;

function wordsOf(text: string): Iterable<string> {
  return text.match(wordOrSign) ?? [];
}

const tokensMaxDefault = 512;

/** The tokenizer in a model's folder. */
export function readWordPiece(folder: string): WordPiece {
  const config = readJson(join(folder, 'tokenizer_config.json')) ?? {};
  const tokenizer = readJson(join(folder, 'tokenizer.json'));
  const asked = Number(config.model_max_length);
  // Some models give an absurdly large number, which means no limit.
  const tokensMax = asked >= 3 && asked <= 65_536 ? asked : tokensMaxDefault;
  const normalizer = tokenizer?.normalizer as { lowercase?: boolean } | undefined;
  const isLowerCase = normalizer?.lowercase ?? config.do_lower_case !== false;
  return new WordPiece(readVocabulary(folder, tokenizer), { isLowerCase, tokensMax });
}

function readVocabulary(
  folder: string,
  tokenizer: Record<string, unknown> | undefined,
): ReadonlyMap<string, number> {
  const model = tokenizer?.model as { type?: string; vocab?: Record<string, number> } | undefined;
  if (model?.vocab && (model.type ?? 'WordPiece') === 'WordPiece') {
    return new Map(Object.entries(model.vocab));
  }
  const lines = readText(join(folder, 'vocab.txt'))?.split(/\r?\n/);
  if (lines) return new Map(lines.map((line, index) => [line, index]));
  const found = model?.type ? ` (its tokenizer is ${model.type})` : '';
  throw new Failure(
    'bad_request',
    `${folder} has neither vocab.txt nor a tokenizer.json of the kind WordPiece${found}`,
  );
}

function readJson(path: string): Record<string, unknown> | undefined {
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure('bad_request', `${path} is not JSON`, { cause: error });
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Failure('bad_request', `${path} cannot be read`, { cause: error });
  }
}
