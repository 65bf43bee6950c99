/**
 * Counts the documents that a search matches by type, host, folder, language and month. The values
 * of all documents of a corpus are held in memory and follow the event log, so counting needs no
 * statement.
 */
import { posix } from 'node:path';
import { limits } from '../kernel/limits/limits.ts';
import { type CurrentRow, listFacetRows } from '../store/document/contents.ts';
import type { Database } from '../store/driver/database.ts';
import { type Copy, Follower } from './follower.ts';

export const facetNames = ['type', 'host', 'folder', 'language', 'date'] as const;
export type FacetName = (typeof facetNames)[number];

export interface FacetCount {
  readonly value: string;
  /** Documents, not passages. */
  readonly count: number;
}

export type Facets = Readonly<Partial<Record<FacetName, readonly FacetCount[]>>>;

interface FacetOf {
  readonly source: string;
  readonly language: string | null;
  readonly media_type: string | null;
  readonly updated_at: number;
}

/** Undefined: the document has no such value. */
const readers: Readonly<Record<FacetName, (of: FacetOf) => string | undefined>> = {
  type: ({ media_type, source }) =>
    media_type?.split(';')[0] ?? (source.startsWith('inline:') ? 'inline' : undefined),
  host: ({ source }) => urlOf(source)?.host,
  folder: ({ source }) => {
    const url = urlOf(source);
    if (url) return `${url.host}${posix.dirname(url.pathname)}`;
    return source.includes('/') ? posix.dirname(source.replace(/^\w+:/, '')) : undefined;
  },
  language: ({ language }) => language ?? undefined,
  date: ({ updated_at }) => new Date(updated_at).toISOString().slice(0, 7),
};

function urlOf(source: string): URL | undefined {
  return /^https?:/.test(source) ? (URL.parse(source) ?? undefined) : undefined;
}

export class FacetMirror {
  readonly #follower: Follower<FacetCopy>;

  constructor(database: Database) {
    this.#follower = new Follower(database, () => new FacetCopy(database));
  }

  /** Most frequent first. */
  count(
    of: { readonly caller: string; readonly corpus: string },
    names: readonly FacetName[],
    generations: Iterable<number>,
  ): Promise<Facets> {
    const { caller, corpus } = of;
    return this.#follower.use({ caller, corpus, kind: 'facets' }, ({ index }) =>
      index.count(names, generations),
    );
  }
}

/** Values are numbered, so that counting a document adds to one place of an array. */
class FacetIndex {
  readonly #generationOf = new Map<string, number>();
  readonly #valuesOf = new Map<number, Int32Array>();
  readonly #names = facetNames.map((): string[] => []);
  readonly #numbers = facetNames.map(() => new Map<string, number>());

  documentIds(): string[] {
    return [...this.#generationOf.keys()];
  }

  generationOf(documentId: string): number | undefined {
    return this.#generationOf.get(documentId);
  }

  remove(documentId: string): void {
    const generation = this.#generationOf.get(documentId);
    if (generation === undefined) return;
    this.#generationOf.delete(documentId);
    this.#valuesOf.delete(generation);
  }

  put(documentId: string, generation: number, of: FacetOf): void {
    this.remove(documentId);
    this.#generationOf.set(documentId, generation);
    const values = facetNames.map((name, facet) => this.#numberOf(facet, readers[name](of)));
    this.#valuesOf.set(generation, Int32Array.from(values));
  }

  count(names: readonly FacetName[], generations: Iterable<number>): Facets {
    const counted = names.map((name) => {
      const facet = facetNames.indexOf(name);
      return { name, facet, counts: new Int32Array(this.#names[facet]?.length ?? 0) };
    });
    for (const generation of generations) {
      const values = this.#valuesOf.get(generation);
      if (!values) continue;
      for (const { facet, counts } of counted) {
        const value = values[facet] as number;
        if (value >= 0) counts[value] = (counts[value] as number) + 1;
      }
    }
    return Object.fromEntries(
      counted.map(({ name, facet, counts }) => [name, this.#mostFrequent(facet, counts)]),
    );
  }

  #mostFrequent(facet: number, counts: Int32Array): FacetCount[] {
    const all: FacetCount[] = [];
    counts.forEach((count, value) => {
      if (count > 0) all.push({ value: this.#names[facet]?.[value] ?? '', count });
    });
    return sortedCounts(all);
  }

  #numberOf(facet: number, value: string | undefined): number {
    if (value === undefined) return -1;
    const numbers = this.#numbers[facet] as Map<string, number>;
    const known = numbers.get(value);
    if (known !== undefined) return known;
    numbers.set(value, numbers.size);
    this.#names[facet]?.push(value);
    return numbers.size - 1;
  }
}

function sortedCounts(counts: FacetCount[]): FacetCount[] {
  counts.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  return counts.slice(0, limits.search.facetValuesMax);
}

/** The counts of several corpora together. */
export function addFacets(all: readonly Facets[]): Facets {
  const sums = facetNames.flatMap((name) => {
    const lists = all.flatMap((facets) => facets[name] ?? []);
    if (!all.some((facets) => facets[name])) return [];
    const counts = new Map<string, number>();
    for (const { value, count } of lists) counts.set(value, (counts.get(value) ?? 0) + count);
    return [[name, sortedCounts([...counts].map(([value, count]) => ({ value, count })))]];
  });
  return Object.fromEntries(sums);
}

class FacetCopy implements Copy {
  readonly #database: Database;
  index = new FacetIndex();

  constructor(database: Database) {
    this.#database = database;
  }

  async put(rows: readonly CurrentRow[]): Promise<void> {
    const ids = rows.map(({ generation_id }) => generation_id);
    for (const row of await listFacetRows(this.#database, ids)) {
      this.index.put(row.id, row.generation_id, row);
    }
  }

  release(): void {
    this.index = new FacetIndex();
  }
}
