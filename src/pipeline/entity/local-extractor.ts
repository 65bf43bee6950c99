/** The extractor without a model: patterns, lists of names, and weighed evidence. */

import { loadOnce } from '../../concurrency/load-once.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { blocksOf } from '../chunk/block.ts';
import type { Entity, EntityKind, Extraction, Extractor, Mention } from './extraction.ts';
import { type Lexicon, readLexicon } from './lexicon.ts';
import { findNames } from './name-finder.ts';
import { type PatternMatch, patternsIn } from './pattern.ts';
import { relationsOf } from './relation.ts';

export type FindEntities = (text: string, signal: AbortSignal) => Promise<Extraction>;

export function localExtractor(findEntities: FindEntities = entitiesHere()): Extractor {
  return {
    model: undefined,
    extract: async ({ text }, { signal }) => ({
      extraction: await findEntities(text, signal),
      detail: {},
    }),
  };
}

export function entitiesHere(): (text: string) => Promise<Extraction> {
  // Loaded with the first document: many processes never extract anything.
  const lexicon = loadOnce(() => readLexicon());
  return async (text) => extractEntities(text, await lexicon());
}

export function extractEntities(text: string, lexicon: Lexicon): Extraction {
  const blocks = [...blocksOf(text)];
  const found = blocks
    .filter(({ kind }) => kind !== 'code')
    .flatMap(({ start, end }) => patternsIn(text, start, end));
  const isTaken = overlapOf(found);
  const names = findNames(text, blocks, lexicon).flatMap(({ mentions, ...rest }) => {
    const free = mentions.filter(({ start, end }) => !isTaken(start, end));
    return free.length > 0 ? [{ ...rest, mentions: free }] : [];
  });
  const entities = mergeSame([...formed(text, found), ...names]).slice(
    0,
    limits.document.entitiesMax,
  );
  return { entities, relations: relationsOf(entities) };
}

/** Whether a span overlaps one of the patterns, which are sorted and disjoint. */
function overlapOf(found: readonly PatternMatch[]): (start: number, end: number) => boolean {
  return (start, end) => {
    let low = 0;
    let high = found.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((found[middle] as PatternMatch).end <= start) low = middle + 1;
      else high = middle;
    }
    const next = found[low];
    return next !== undefined && next.start < end;
  };
}

function formed(text: string, found: readonly PatternMatch[]): Entity[] {
  const entities = new Map<string, { entity: Entity; names: Set<string>; mentions: Mention[] }>();
  for (const { kind, name, start, end } of found) {
    const key = keyOf(kind, name);
    let known = entities.get(key);
    if (!known) {
      const mentions: Mention[] = [];
      known = { entity: { kind, name, aliases: [], mentions }, names: new Set(), mentions };
      entities.set(key, known);
    }
    const surface = text.slice(start, end);
    if (surface !== name) known.names.add(surface);
    known.mentions.push({ start, end, passage: 0 });
  }
  return [...entities.values()].map(({ entity, names }) => ({ ...entity, aliases: [...names] }));
}

/** "WALRUS" and "Walrus" may have become two groups of the same name and kind. */
function mergeSame(entities: readonly Entity[]): Entity[] {
  const merged = new Map<string, Entity>();
  for (const entity of entities) {
    const key = keyOf(entity.kind, entity.name);
    const known = merged.get(key);
    if (!known) {
      merged.set(key, entity);
      continue;
    }
    const aliases = [...new Set([...known.aliases, ...entity.aliases])];
    const mentions = [...known.mentions, ...entity.mentions].sort((a, b) => a.start - b.start);
    merged.set(key, { ...known, aliases, mentions });
  }
  return [...merged.values()];
}

function keyOf(kind: EntityKind, name: string): string {
  return `${kind}\0${name}`;
}
