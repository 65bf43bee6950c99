/** The facts for and against a candidate, by name. A table weighs them. */
import {
  connectors,
  honorifics,
  nobleConnectors,
  organizationCues,
  organizationHeads,
  organizationTails,
  otherCues,
  otherHeads,
  otherTails,
  personVerbs,
  placeCues,
  placeHeads,
  placeOpeners,
  placeTails,
  regions,
  roles,
  sentenceOpeners,
  titles,
} from './indicator-words.ts';
import { type Lexicon, marks } from './lexicon.ts';
import { type Candidate, isDigit, isLetterOrDigit, isUpper, stem, wordEnd } from './scan.ts';

export interface Around {
  readonly text: string;
  readonly lexicon: Lexicon;
  /** Names that occur within sentences of the document, in lower case. */
  readonly seenInside: ReadonlySet<string>;
}

export function evidenceOf(candidate: Candidate, around: Around): string[] {
  const facts = ['any', `length ${Math.min(candidate.words.length, 4)}`];
  addPlace(facts, candidate, around);
  addBefore(facts, candidate, around);
  addAfter(facts, candidate, around);
  addShape(facts, candidate, around.text);
  // "WHO" and "US" are not words.
  if (!facts.includes('all capitals')) addWords(facts, candidate, around.lexicon);
  else if (isPlace(candidate.words[0] ?? '', around.lexicon)) facts.push('country');
  if (!facts.includes('all capitals')) addHeads(facts, candidate);
  return facts;
}

function addPlace(facts: string[], candidate: Candidate, { lexicon, seenInside }: Around): void {
  const { words, opensSentence, inHeading, title } = candidate;
  if (title) facts.push('title before');
  if (inHeading) facts.push('heading');
  if (!opensSentence) {
    facts.push(words.length > 1 ? 'inside many' : 'inside one');
    return;
  }
  facts.push('opens sentence');
  const known = lexicon.get(words[0] ?? '') ?? 0;
  const isAlone = words.length === 1;
  if (seenInside.has(words.join(' '))) facts.push(isAlone ? 'opens alone, seen inside' : 'seen');
  else if (known & marks.frequent)
    facts.push(isAlone ? 'opens alone, frequent' : 'opens, frequent');
  else if (known & marks.word) facts.push(isAlone ? 'opens alone, word' : 'opens, word');
  else facts.push(isAlone ? 'opens alone, no word' : 'opens, no word');
}

/** Small words that are facts of their own. */
const ownBefore =
  'in at from to of by with and for the a on as into near between is was or but that';
const ownAfter = 'and is was has had in of at on for who which to are were or';

const earlierWords = new Set(ownBefore.split(' '));

/** Facts that a word gives about the name after it, and about the name before it. */
const factsBefore = factsByWord('before', {
  role: roles,
  'person verb': personVerbs,
  'organization cue': organizationCues,
  'place cue': placeCues,
  'other cue': otherCues,
  ...Object.fromEntries(ownBefore.split(' ').map((word) => [word, [word]])),
});
const factsAfter = factsByWord('after', {
  'person verb': personVerbs,
  'organization tail': organizationTails,
  'place tail': placeTails,
  'other tail': otherTails,
  ...Object.fromEntries(ownAfter.split(' ').map((word) => [word, [word]])),
});

function factsByWord(
  side: string,
  tables: Readonly<Record<string, Iterable<string>>>,
): ReadonlyMap<string, readonly string[]> {
  const facts = new Map<string, string[]>();
  for (const [fact, words] of Object.entries(tables)) {
    for (const word of words) facts.set(word, [...(facts.get(word) ?? []), `${side} ${fact}`]);
  }
  return facts;
}

function addBefore(facts: string[], { start }: Candidate, { text, lexicon }: Around): void {
  const end = skipBack(text, start);
  if (end === 0) return;
  const code = text.charCodeAt(end - 1);
  if (!isLetterOrDigit(code)) {
    facts.push(`before ${signNames.get(code) ?? 'sign'}`);
    if (code === 44 && isPlace(wordBefore(text, end - 1), lexicon)) facts.push('before place,');
    return;
  }
  const before = wordBefore(text, end);
  const lower = before.toLowerCase();
  if (before !== lower) facts.push('before capital');
  facts.push(...(factsBefore.get(lower) ?? []));
  if (lower !== 'the') return;
  const earlier = wordBefore(text, skipBack(text, end - 3)).toLowerCase();
  if (earlierWords.has(earlier)) facts.push(`before ${earlier} the`);
}

function addAfter(facts: string[], { end }: Candidate, { text, lexicon }: Around): void {
  const code = text.charCodeAt(end);
  if (Number.isNaN(code)) return;
  if (code !== 32 && code !== 10) {
    facts.push(`after ${signNames.get(code) ?? 'sign'}`);
    if (code === 44 && isPlace(wordAfter(text, end + 2), lexicon)) facts.push('after , place');
    return;
  }
  const next = text.charCodeAt(end + 1);
  if (isDigit(next)) facts.push('after number');
  else if (!isLetterOrDigit(next)) facts.push(`after ${signNames.get(next) ?? 'sign'}`);
  const after = wordAfter(text, end + 1);
  facts.push(...(factsAfter.get(after) ?? []));
}

const signNames: ReadonlyMap<number, string> = new Map([
  [40, '('],
  [41, ')'],
  [44, ','],
  [46, '.'],
  [39, "'s"],
  [0x2019, "'s"],
  [34, 'quote'],
  [0x201c, 'quote'],
  [0x201d, 'quote'],
  [45, '-'],
  [58, ':'],
  [10, 'line'],
]);

function addShape(facts: string[], { start, end, words }: Candidate, text: string): void {
  let [hasSmall, hasCapitalInside, hasDigit, hasInitial, hasHyphen] = Array(5).fill(false);
  let before = 32;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) hasDigit = true;
    else if (code === 45) hasHyphen = true;
    else if (isUpper(code)) {
      if (before !== 32 && isSmall(before)) hasCapitalInside = true;
      if (before === 32 && text.charCodeAt(at + 1) === 46) hasInitial = true;
    } else if (isSmall(code)) hasSmall = true;
    before = code;
  }
  if (!hasSmall) facts.push(words.length === 1 ? 'all capitals' : 'capitals');
  else if (hasCapitalInside) facts.push('capital inside');
  if (hasInitial) facts.push('initial');
  if (hasDigit) facts.push('digit');
  if (hasHyphen) facts.push('hyphen');
}

function isSmall(code: number): boolean {
  return (code >= 97 && code <= 122) || (code > 127 && isLetterOrDigit(code) && !isUpper(code));
}

function addWords(facts: string[], candidate: Candidate, lexicon: Lexicon): void {
  const { words, opensSentence } = candidate;
  const first = lexicon.get(words[0] ?? '') ?? 0;
  const last = lexicon.get(words.at(-1) ?? '') ?? 0;
  const size = words.length > 1 ? 'many' : 'one';
  const whole = words.join(' ').replaceAll('.', '');
  const known = lexicon.get(whole) ?? lexicon.get(words.join(' ')) ?? 0;
  const isRegion = regions.has(words.join(' ')) || regions.has(whole);
  if (first & marks.given) facts.push(`given ${first & marks.frequent ? 'word ' : ''}${size}`);
  // "Grace Hopper": two common words, but together and both capitalised.
  const isPair = words.length === 2 && !opensSentence && !isAnyHead(words[1] ?? '');
  if (first & marks.given && isPair) facts.push('given, pair');
  if (last & marks.surname) facts.push(`surname ${last & marks.frequent ? 'word ' : ''}${size}`);
  if (known & marks.country || isRegion) facts.push('country');
  else if (known & marks.largeCity) facts.push(`large city ${size}`);
  else if (known & marks.city) facts.push(`city ${size}`);
  if (size === 'many' && isPlace(words.at(-1) ?? '', lexicon)) facts.push('ends with place');
  if (size === 'many' && isPlace(words[0] ?? '', lexicon)) facts.push('begins with place');
  const content = words.filter((word) => !connectors.has(word));
  const isFrequent = (word: string) => ((lexicon.get(word) ?? 0) & marks.frequent) !== 0;
  if (content.every(isFrequent)) facts.push(`all frequent ${size}`);
  else if (content.every((word) => !lexicon.has(word))) facts.push(`all unknown ${size}`);
  else if (!content.some(isFrequent)) facts.push(`none frequent ${size}`);
}

function addHeads(facts: string[], { words }: Candidate): void {
  const last = stem(words.at(-1) ?? '');
  const first = words[0] ?? '';
  if (words.length > 1) {
    if (organizationHeads.has(last)) facts.push('organization head');
    else if (words.some((word) => organizationHeads.has(stem(word))))
      facts.push('organization word');
    if (placeHeads.has(last)) facts.push('place head');
    else if (placeHeads.has(first)) facts.push('place first');
    if (placeOpeners.has(first)) facts.push('place opener');
    if (otherHeads.has(last)) facts.push('other head');
    if (/^(?:jr|sr|ii|iii|iv)$/.test(last)) facts.push('person suffix');
    if (honorifics.has(first)) facts.push('honorific');
    if (first === 'the') facts.push('the inside');
    if (words.includes('of')) facts.push('of inside');
    if (words.includes('for') || words.includes('&')) facts.push('and inside');
    if (words.some((word) => nobleConnectors.has(word))) facts.push('noble');
  } else {
    if (organizationHeads.has(last)) facts.push('organization head alone');
    if (placeHeads.has(last)) facts.push('place head alone');
    if (otherHeads.has(last)) facts.push('other head alone');
    if (titles.has(last) || honorifics.has(last) || roles.has(last)) facts.push('title alone');
    if (sentenceOpeners.has(last)) facts.push('opener alone');
  }
}

function isAnyHead(word: string): boolean {
  return organizationHeads.has(word) || placeHeads.has(word) || otherHeads.has(word);
}

function isPlace(word: string, lexicon: Lexicon): boolean {
  const lower = word.toLowerCase();
  return (
    regions.has(lower) || ((lexicon.get(lower) ?? 0) & (marks.country | marks.largeCity)) !== 0
  );
}

const neighbourLengthMax = 40;

function skipBack(text: string, from: number): number {
  let at = from;
  while (at > 0 && from - at < 3 && isSpace(text.charCodeAt(at - 1))) at -= 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0;
}

function wordBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start < neighbourLengthMax) {
    const code = text.charCodeAt(start - 1);
    if (!isLetterOrDigit(code) && code !== 45) break;
    start -= 1;
  }
  return text.slice(start, end);
}

function wordAfter(text: string, start: number): string {
  if (!isLetterOrDigit(text.charCodeAt(start))) return '';
  const limit = Math.min(text.length, start + neighbourLengthMax);
  const word = text.slice(start, wordEnd(text, start, limit));
  return isUpper(text.charCodeAt(start)) ? word.toLowerCase() : word;
}
