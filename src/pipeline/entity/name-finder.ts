/**
 * Finds names in running text. Candidates are weighed one by one; then the document decides: equal
 * names are one entity, a surname is the person named in full, and letters in brackets abbreviate
 * the name before them.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Block } from '../chunk/block.ts';
import { evidenceOf } from './evidence.ts';
import type { EntityKind, Mention } from './extraction.ts';
import { connectors, knownOrganizations, nationalities, titles } from './indicator-words.ts';
import type { Lexicon } from './lexicon.ts';
import { type Candidate, Scanner } from './scan.ts';
import { type NameKind, nameKinds, weights } from './weights.ts';

export interface NamedGroup {
  readonly kind: EntityKind;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly mentions: readonly Mention[];
}

/** All candidates with the same words. */
interface Group {
  readonly key: string;
  readonly words: readonly string[];
  readonly candidates: Candidate[];
  /** Log probabilities of each kind, summed over all mentions. */
  readonly scores: number[];
  kind: NameKind;
  /** The full form of an abbreviation. */
  full: Group | undefined;
}

export function findNames(text: string, blocks: readonly Block[], lexicon: Lexicon): NamedGroup[] {
  const candidates = candidatesIn(text, blocks, lexicon);
  const isEnglish = looksEnglish(text);
  const inside = candidates.filter(({ opensSentence }) => !opensSentence);
  const seenInside = new Set(inside.map(({ words }) => words.join(' ')));
  const groups = new Map<string, Group>();
  for (const candidate of candidates) {
    const facts = evidenceOf(candidate, { text, lexicon, seenInside });
    if (isEnglish || isCertain(facts, candidate)) addTo(groups, candidate, scoresOf(facts));
  }
  for (const group of groups.values()) {
    group.kind = bestOf(group.scores);
    const isKnown = group.kind !== 'none' && knownOrganizations.has(group.key);
    if (isKnown) group.kind = 'organization';
  }
  resolvePeople(groups);
  resolveShortForms(text, groups);
  return namedGroups(text, groups);
}

function candidatesIn(text: string, blocks: readonly Block[], lexicon: Lexicon): Candidate[] {
  const scanner = new Scanner(text, lexicon);
  const candidates: Candidate[] = [];
  for (const block of blocks) {
    if (block.kind === 'code' || isShouted(text, block)) continue;
    for (const candidate of scanner.scan(block)) {
      if (candidates.length >= limits.document.candidatesMax) return candidates;
      candidates.push(candidate);
    }
  }
  return candidates;
}

/** In a heading in capitals, capitals say nothing about names. */
function isShouted(text: string, { start, end }: Block): boolean {
  if (end - start > 300) return false;
  const line = text.slice(start, end);
  return !/\p{Ll}/u.test(line) && (line.match(/\p{Lu}{2,}/gu)?.length ?? 0) > 1;
}

const englishWords = new Set('the of and to is for that with by from'.split(' '));
const sampleCharacters = 3000;
const sampleWordsMin = 20;
const englishShareMin = 0.06;

/** Other languages have other rules for capitals: there, only listed names count. */
function looksEnglish(text: string): boolean {
  const words = text.slice(0, sampleCharacters).toLowerCase().split(/\s+/);
  if (words.length < sampleWordsMin) return true;
  const english = words.filter((word) => englishWords.has(word)).length;
  return english / words.length >= englishShareMin;
}

const certainFacts = new Set([
  'country',
  'large city one',
  'large city many',
  'city many',
  'given many',
  'title before',
]);

function isCertain(facts: readonly string[], { words }: Candidate): boolean {
  if (connectors.has(words[0] ?? '')) return false;
  return facts.some((fact) => certainFacts.has(fact)) && !facts.includes('length 4');
}

/** The weights alone miss more names than they wrongly accept; this balances it. */
const readiness = 0.4;

/** The log probabilities of the kinds. */
function scoresOf(facts: readonly string[]): number[] {
  const scores = nameKinds.map((kind) => (kind === 'none' ? -readiness : 0));
  for (const fact of facts) {
    const row = weights[fact];
    if (!row) continue;
    for (let kind = 0; kind < scores.length; kind += 1) {
      scores[kind] = (scores[kind] as number) + (row[kind] as number);
    }
  }
  const most = Math.max(...scores);
  const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score - most), 0)) + most;
  return scores.map((score) => score - total);
}

function bestOf(scores: readonly number[]): NameKind {
  let best = 0;
  for (let kind = 1; kind < scores.length; kind += 1) {
    if ((scores[kind] as number) > (scores[best] as number)) best = kind;
  }
  return nameKinds[best] as NameKind;
}

function addTo(groups: Map<string, Group>, candidate: Candidate, scores: readonly number[]): void {
  const { words } = candidate;
  const own = words[0] === 'the' && words.length > 1 ? words.slice(1) : words;
  const key = own.join(' ').replace(/\.$/, '');
  let group = groups.get(key);
  if (!group) {
    const empty = { candidates: [], scores: nameKinds.map(() => 0), full: undefined };
    group = { key, words: own, ...empty, kind: 'none' };
    groups.set(key, group);
  }
  group.candidates.push(candidate);
  scores.forEach((score, kind) => {
    (group as Group).scores[kind] = ((group as Group).scores[kind] as number) + score;
  });
}

/** "Lovelace" is Ada Lovelace, if she was named and nothing indicates a place. */
function resolvePeople(groups: ReadonlyMap<string, Group>): void {
  const people = new Map<string, Group>();
  for (const group of groups.values()) {
    if (group.kind !== 'person' || group.words.length < 2) continue;
    const { words } = group;
    for (const word of [words.at(-1), words[0]]) {
      if (word !== undefined && !people.has(word)) people.set(word, group);
    }
    const short = `${words[0]} ${words.at(-1)}`;
    const other = groups.get(short);
    if (words.length > 2 && other && other !== group && other.kind === 'person') other.full = group;
  }
  for (const group of groups.values()) {
    if (group.words.length !== 1) continue;
    const person = people.get(group.key);
    const isPlace = group.kind === 'location' || group.kind === 'organization';
    const margin = (group.scores[0] as number) - (group.scores[nameKinds.indexOf(group.kind)] ?? 0);
    if (!person || (isPlace && margin < -2 * group.candidates.length)) continue;
    group.full = person;
    group.kind = 'person';
  }
}

/** "World Health Organization (WHO)", and "Acme" for "Acme Corporation". */
function resolveShortForms(text: string, groups: ReadonlyMap<string, Group>): void {
  for (const group of groups.values()) {
    if (group.words.length < 2 || group.full) continue;
    const { end } = group.candidates[0] as Candidate;
    const letters = text.startsWith(' (', end)
      ? /^ \((\p{Lu}{2,10})\)/u.exec(text.slice(end, end + 14))?.[1]
      : undefined;
    const short = letters === undefined ? undefined : groups.get(letters.toLowerCase());
    if (short && letters && isShortFor(letters, group.words)) {
      if (group.kind === 'none' || group.kind === 'name') group.kind = 'organization';
      short.full = group;
      short.kind = group.kind;
    }
    const first = group.kind === 'organization' ? groups.get(group.words[0] ?? '') : undefined;
    if (first && !first.full && (first.kind === 'organization' || first.kind === 'name')) {
      first.full = group;
      first.kind = 'organization';
    }
  }
}

function isShortFor(letters: string, words: readonly string[]): boolean {
  const all = words.map((word) => word[0]).join('');
  const main = words
    .filter((word) => word.length > 3 || words.length < 3)
    .map((word) => word[0])
    .join('');
  const lower = letters.toLowerCase();
  return all === lower || main === lower || (all.startsWith(lower[0] ?? '') && all.includes(lower));
}

function namedGroups(text: string, groups: ReadonlyMap<string, Group>): NamedGroup[] {
  const merged = new Map<Group, Group[]>();
  for (const group of groups.values()) {
    if (group.kind === 'none' || (group.words.length === 1 && titles.has(group.key))) continue;
    const full = fullOf(group);
    merged.set(full, [...(merged.get(full) ?? []), group]);
  }
  return [...merged].flatMap(([full, parts]) => {
    const kind = nationalities.has(full.key) ? 'nationality' : full.kind;
    const mentions = parts
      .flatMap(({ candidates }) => candidates)
      .map(({ start, end, sentence }) => ({ start, end, passage: sentence }))
      .sort((one, other) => one.start - other.start);
    const names = [...new Set(mentions.map(({ start, end }) => surfaceOf(text, start, end)))];
    const first = full.candidates[0];
    if (kind === 'none' || !first) return [];
    const name = surfaceOf(text, first.start, first.end);
    return [{ kind, name, aliases: names.filter((other) => other !== name), mentions }];
  });
}

/** Two steps at most: "Lovelace", "Ada Lovelace", "Ada K. Lovelace". */
function fullOf(group: Group): Group {
  const once = group.full ?? group;
  return once.full ?? once;
}

function surfaceOf(text: string, start: number, end: number): string {
  return text.slice(start, end).replace(/\s+/g, ' ');
}
