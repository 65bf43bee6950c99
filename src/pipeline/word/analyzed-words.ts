/** The words of a generation as they are stored, analyzed in the language of its text. */
import { setImmediate } from 'node:timers/promises';
import type { AnalyzedWords } from '../../store/search/words.ts';
import { analysisVersion, fallbackLanguage } from './analysis.ts';
import { detectLanguage } from './language.ts';
import { chunksMax } from './packed-words.ts';
import type { WordPacker, WordRow } from './word-packer.ts';

export interface AnalyzedText {
  readonly title: string | null;
  /** As declared or detected before. */
  readonly language: string | null;
}

/** A long text is packed in slices, so that the event loop is not blocked. */
export async function analyzedWords(
  chunks: readonly WordRow[],
  { title, language: declared }: AnalyzedText,
  packer: WordPacker,
): Promise<AnalyzedWords> {
  // The text is trusted more than a declaration: many pages declare the language of a template.
  const language =
    languageOf(chunks, title) ??
    declared?.toLowerCase().match(declaredCode)?.[0] ??
    fallbackLanguage;
  const packed: Uint8Array[] = [];
  for (let from = 0; from < chunks.length; from += chunksMax) {
    if (from > 0) await setImmediate();
    packed.push(packer.pack(title ?? '', chunks.slice(from, from + chunksMax), language));
  }
  return { words: Buffer.concat(packed), version: analysisVersion, language };
}

/** Chunks that are enough to detect the language. */
const chunksRead = 8;

/** Undefined if it is not clear. */
export function languageOf(
  chunks: readonly { readonly text: string }[],
  title: string | null,
): string | undefined {
  const texts = chunks.slice(0, chunksRead).map(({ text }) => text);
  return detectLanguage([title ?? '', ...texts].join('\n'));
}

const declaredCode = /^[a-z]{2,3}(?=$|[-_])/;
