/**
 * Porter's stemmer for English, identical to the `porter` tokenizer of FTS5: a stem here is the
 * term in the index there. It marks the matched words of a passage, and counts terms.
 */

/** An ending and its replacement. */
type Rule = readonly [ending: string, replacement: string];

const plurals: readonly Rule[] = [
  ['sses', 'ss'],
  ['ies', 'i'],
  ['ss', 'ss'],
  ['s', ''],
];

const doubleEndings: readonly Rule[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['logi', 'log'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
];

const adjectives: readonly Rule[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];

const suffixes =
  'al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti ous ive ize'.split(' ');

export function stemOf(word: string): string {
  if (word.length < 3 || word.length > 63 || !/^[a-z]+$/.test(word)) return word;
  let stem = replaceFirst(word, plurals, () => true);
  stem = withoutPast(stem);
  if (stem.endsWith('y') && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  stem = replaceFirst(stem, doubleEndings, (before) => measure(before) > 0);
  stem = replaceFirst(stem, adjectives, (before) => measure(before) > 0);
  return withoutFinalE(withoutSuffix(stem));
}

/** The longest matching ending decides, even if it may then not be removed. */
function replaceFirst(
  word: string,
  rules: readonly Rule[],
  isAllowed: (before: string) => boolean,
): string {
  const rule = rules.find(([ending]) => word.endsWith(ending));
  if (!rule) return word;
  const before = word.slice(0, -rule[0].length);
  return isAllowed(before) ? before + rule[1] : word;
}

function withoutPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const ending = ['ed', 'ing'].find((past) => word.endsWith(past));
  if (!ending) return word;
  const before = word.slice(0, -ending.length);
  if (!hasVowel(before)) return word;
  if (/(?:at|bl|iz)$/.test(before)) return `${before}e`;
  if (/([^aeioulsz])\1$/.test(before)) return before.slice(0, -1);
  return measure(before) === 1 && endsShort(before) ? `${before}e` : before;
}

function withoutSuffix(word: string): string {
  const ending = suffixes
    .filter((suffix) => word.endsWith(suffix))
    .reduce((longest, suffix) => (suffix.length > longest.length ? suffix : longest), '');
  if (ending === '') return word;
  // Of `sion` and `tion` the first letter stays.
  const length = /^[st]ion$/.test(ending) ? 3 : ending.length;
  const before = word.slice(0, -length);
  return measure(before) > 1 ? before : word;
}

function withoutFinalE(word: string): string {
  let stem = word;
  if (stem.endsWith('e')) {
    const before = stem.slice(0, -1);
    const size = measure(before);
    if (size > 1 || (size === 1 && !endsShort(before))) stem = before;
  }
  return stem.endsWith('ll') && measure(stem.slice(0, -1)) > 1 ? stem.slice(0, -1) : stem;
}

/** How often consonants follow vowels. */
function measure(word: string): number {
  return shapeOf(word).match(/v+c+/g)?.length ?? 0;
}

function hasVowel(word: string): boolean {
  return shapeOf(word).includes('v');
}

/** Consonant, vowel, consonant, the last of which is not w, x or y. */
function endsShort(word: string): boolean {
  return /cvc$/.test(shapeOf(word)) && !/[wxy]$/.test(word);
}

/** A y is a vowel after a consonant. */
function shapeOf(word: string): string {
  let shape = '';
  for (const letter of word) {
    const isVowel = 'aeiou'.includes(letter) || (letter === 'y' && shape.endsWith('c'));
    shape += isVowel ? 'v' : 'c';
  }
  return shape;
}
