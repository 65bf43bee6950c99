/**
 * The language of a text, by its script and by its most frequent words. It decides the stemmer, so
 * a wrong guess costs more than none: the result is undefined unless it is clear.
 */
import { countStopWords } from './stop-words.ts';

/** The first characters decide; a longer sample changes nothing. */
const charactersRead = 8000;
const wordsRead = 600;
/** Fewer words are not enough to tell languages of one script apart. */
const wordsMin = 4;
/** The share of stop words in ordinary prose is a third or more. */
const shareMin = 0.12;
/** How far the best language must be ahead of the second. */
const lead = 1.2;

const scripts = {
  han: /\p{Script=Han}/gu,
  kana: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu,
  hangul: /\p{Script=Hangul}/gu,
  latin: /\p{Script=Latin}/gu,
  cyrillic: /\p{Script=Cyrillic}/gu,
  greek: /\p{Script=Greek}/gu,
  arabic: /\p{Script=Arabic}/gu,
  hebrew: /\p{Script=Hebrew}/gu,
  devanagari: /\p{Script=Devanagari}/gu,
  armenian: /\p{Script=Armenian}/gu,
  thai: /\p{Script=Thai}/gu,
  lao: /\p{Script=Lao}/gu,
  burmese: /\p{Script=Myanmar}/gu,
  khmer: /\p{Script=Khmer}/gu,
} as const;
type Script = keyof typeof scripts;

/** Scripts that one language writes, as far as Pawl tells them apart. */
const languageOfScript: Readonly<Partial<Record<Script, string>>> = {
  hangul: 'ko',
  greek: 'el',
  hebrew: 'he',
  devanagari: 'hi',
  armenian: 'hy',
  thai: 'th',
  lao: 'lo',
  burmese: 'my',
  khmer: 'km',
};

export const latinLanguages = 'en de fr es it pt nl sv da no fi hu ro tr id pl cs vi'.split(' ');

const others = 'ru uk bg sr el ar fa he hi hy zh ja ko th lo my km'.split(' ');
/** Every result of `detectLanguage`. */
export const detectableLanguages = [...latinLanguages, ...others];

/** A two-letter code, or undefined. */
export function detectLanguage(text: string): string | undefined {
  const sample = text.slice(0, charactersRead);
  const script = scriptOf(sample);
  switch (script) {
    case undefined:
      return undefined;
    case 'latin':
      return byStopWords(wordsIn(sample), latinLanguages);
    case 'cyrillic':
      return cyrillicLanguage(sample);
    case 'kana':
      return 'ja';
    case 'han':
      // Japanese prose has kana in every sentence; its titles may have none.
      return shareOf(sample, scripts.kana, scripts.han) > 0.05 ? 'ja' : 'zh';
    case 'arabic':
      return /[پچژگ]/.test(sample) ? 'fa' : 'ar';
    default:
      return languageOfScript[script];
  }
}

/** Letters of a language that English lacks; several languages may share one. */
const ownLetters: readonly (readonly [string, RegExp])[] = [
  ['de', /[äöüß]/],
  ['fr', /[àâçèéêëîïôùûœ]/],
  ['es', /[áéíñóú¿¡]/],
  ['pt', /[áâãçéêíóôõú]/],
  ['it', /[àèéìòù]/],
  ['sv', /[äåö]/],
  ['fi', /[äö]/],
  ['da', /[åæø]/],
  ['no', /[åæø]/],
  ['tr', /[çğıöşü]/],
  ['hu', /[áéíóöőúüű]/],
  ['ro', /[ăâîșț]/],
  ['pl', /[ąćęłńóśźż]/],
  ['cs', /[áčéěíňřšťúůýž]/],
  ['vi', /[ơưạấầẩậắằặẹếềểệịọốồổộớờởợụứừửựỳỵ]/],
];

const beyondAscii = /[\u0080-\uffff]/;

/** The language of words of which several languages are possible. */
export function byStopWords(
  words: readonly string[],
  languages: readonly string[],
): string | undefined {
  if (words.length < wordsMin) return undefined;
  const counts = countStopWords(words, languages);
  const marked = words.filter((word) => beyondAscii.test(word));
  for (const [language, pattern] of ownLetters) {
    if (!languages.includes(language)) continue;
    const own = marked.filter((word) => pattern.test(word)).length;
    counts.set(language, (counts.get(language) ?? 0) + own);
  }
  const ranked = [...counts].sort((a, b) => b[1] - a[1]);
  const [best, second] = ranked;
  if (!best || best[1] < 2 || best[1] < words.length * shareMin) return undefined;
  return best[1] >= (second?.[1] ?? 0) * lead ? best[0] : undefined;
}

function wordsIn(sample: string): string[] {
  return (sample.toLowerCase().match(/\p{L}[\p{L}\p{M}]*/gu) ?? []).slice(0, wordsRead);
}

/** Outside the first blocks, which have Latin letters only, and general punctuation. */
const beyondLatin = /[\u02b0-\u1fff\u2070-\uffff]/;

/** The script of most letters. Han characters carry more than a letter does. */
function scriptOf(sample: string): Script | undefined {
  if (!beyondLatin.test(sample)) return /\p{Script=Latin}/u.test(sample) ? 'latin' : undefined;
  let best: { script: Script; weight: number } | undefined;
  for (const [script, pattern] of Object.entries(scripts) as [Script, RegExp][]) {
    const count = sample.match(pattern)?.length ?? 0;
    const weight = script === 'han' || script === 'kana' || script === 'hangul' ? count * 2 : count;
    if (weight > (best?.weight ?? 0)) best = { script, weight };
  }
  return best?.script;
}

function shareOf(sample: string, some: RegExp, others: RegExp): number {
  const count = sample.match(some)?.length ?? 0;
  return count / Math.max(count + (sample.match(others)?.length ?? 0), 1);
}

/** Letters that only one of the languages has. */
function cyrillicLanguage(sample: string): string {
  const own = (pattern: RegExp): number => sample.match(pattern)?.length ?? 0;
  const ukrainian = own(/[іїєґ]/giu);
  const russian = own(/[ыэё]/giu);
  const serbian = own(/[јљњћђџ]/giu);
  const most = Math.max(ukrainian, russian, serbian);
  if (most === 0) return byStopWords(wordsIn(sample), ['ru', 'uk', 'bg']) ?? 'ru';
  if (most === ukrainian) return 'uk';
  return most === serbian ? 'sr' : 'ru';
}
