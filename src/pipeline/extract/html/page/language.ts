/** The language of a page: as declared, else detected in its text. */
import { detectLanguage } from '../../../word/language.ts';

export function languageOf(declared: string | undefined, text: string): string | undefined {
  const tag = /^[a-z]{2,3}(?=$|[-_])/i.exec(declared?.trim() ?? '')?.[0];
  return tag === undefined ? detectLanguage(text) : tag.toLowerCase();
}
