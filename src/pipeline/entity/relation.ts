/** Which entities are named together. */
import { limits } from '../../kernel/limits/limits.ts';
import type { Entity, EntityKind, Relation } from './extraction.ts';

/** Dates and sums occur next to everything, so they are not related. */
const related: ReadonlySet<EntityKind> = new Set(['person', 'organization', 'location', 'name']);

const perPassageMax = 12;

export function relationsOf(entities: readonly Entity[]): Relation[] {
  const passages = new Map<number, Set<number>>();
  entities.forEach(({ kind, mentions }, place) => {
    if (!related.has(kind)) return;
    for (const { passage } of mentions) {
      const places = passages.get(passage);
      if (!places) passages.set(passage, new Set([place]));
      else if (places.size < perPassageMax) places.add(place);
    }
  });
  const weights = new Map<number, number>();
  for (const places of passages.values()) count(weights, [...places], entities.length);
  return [...weights]
    .map(([key, weight]) => ({
      one: Math.floor(key / entities.length),
      other: key % entities.length,
      weight,
    }))
    .sort((a, b) => b.weight - a.weight || a.one - b.one || a.other - b.other)
    .slice(0, limits.document.relationsMax);
}

function count(weights: Map<number, number>, places: readonly number[], width: number): void {
  for (let first = 0; first < places.length; first += 1) {
    for (let second = first + 1; second < places.length; second += 1) {
      const [a, b] = [places[first] as number, places[second] as number];
      const key = Math.min(a, b) * width + Math.max(a, b);
      weights.set(key, (weights.get(key) ?? 0) + 1);
    }
  }
}
