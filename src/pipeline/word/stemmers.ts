/** Snowball stemmers by language, each loaded with its first word. English is Porter's own. */
import { createRequire } from 'node:module';
import { stemOf } from './porter.ts';

/** The names of the package for the languages that Pawl detects. */
const moduleNames: Readonly<Record<string, string>> = {
  ar: 'arabic',
  bg: 'bulgarian',
  da: 'danish',
  de: 'german',
  el: 'greek',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  hi: 'indian',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  sv: 'swedish',
  tr: 'turkish',
  uk: 'ukrainian',
};

export type Stem = (word: string) => string;

/** Longer words are names, addresses or encoded data: no ending is worth removing. */
const wordLengthMax = 63;

/** Endings that the stemmer knows with their accent only, and that people write without it. */
const accentedEndings: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  es: [
    ['cion', 'ción'],
    ['sion', 'sión'],
  ],
  pt: [
    ['cao', 'ção'],
    ['coes', 'ções'],
    ['soes', 'sões'],
  ],
};

/** The stemmer of a language; words stay as they are in a language without one. */
export function stemmerOf(language: string): Stem {
  if (language === 'en') return stemOf;
  const name = moduleNames[language];
  if (name === undefined) return (word) => word;
  const { stemmer } = createRequire(import.meta.url)(`@orama/stemmers/${name}`) as {
    stemmer: Stem;
  };
  const endings = accentedEndings[language] ?? [];
  return (word) => {
    if (word.length > wordLengthMax) return word;
    const [plain, accented] = endings.find(([ending]) => word.endsWith(ending)) ?? ['', ''];
    return stemmer(plain === '' ? word : word.slice(0, -plain.length) + accented);
  };
}
