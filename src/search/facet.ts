/**
 * Counts the documents that a search matches by type, host, folder, language, month and the keys of
 * their metadata. The values of all documents of a corpus are held in memory and follow the event
 * log, so counting needs no statement.
 */
import { posix } from 'node:path';
import { limits } from '../kernel/limits/limits.ts';
import { readMetadata } from '../kernel/metadata/metadata.ts';
import { type Scalar, scalarsOf } from '../kernel/metadata/where.ts';
import { type CurrentRow, listFacetRows } from '../store/document/contents.ts';
import type { Database } from '../store/driver/database.ts';
import { type Copy, Follower } from './follower.ts';

export const facetNames = ['type', 'host', 'folder', 'language', 'date'] as const;
type OwnFacetName = (typeof facetNames)[number];
const metadataPrefix = 'metadata.';
/** `metadata.team`: the values of the key `team`. */
export type FacetName = OwnFacetName | `metadata.${string}`;

/** The key of a metadata facet; undefined if it is none. */
export function metadataKeyOf(name: string): string | undefined {
  const key = name.startsWith(metadataPrefix) ? name.slice(metadataPrefix.length) : '';
  return limits.metadata.keyPattern.test(key) ? key : undefined;
}

export function isFacetName(name: string): name is FacetName {
  return facetNames.some((one) => one === name) || metadataKeyOf(name) !== undefined;
}

/** As it reads after "is one of" and "takes". */
export const facetForms = `${facetNames.join(', ')} and metadata.KEY`;

export interface FacetCount {
  /** A text, or a value of the metadata. A list counts once for each of its entries. */
  readonly value: Scalar;
  /** Documents, not passages. */
  readonly count: number;
}

export type Facets = Readonly<Partial<Record<FacetName, readonly FacetCount[]>>>;

interface FacetOf {
  readonly source: string;
  readonly language: string | null;
  readonly media_type: string | null;
  readonly updated_at: number;
  /** As JSON. */
  readonly metadata: string | null;
}

/** Undefined: the document has no such value. */
const readers: Readonly<Record<OwnFacetName, (of: FacetOf) => string | undefined>> = {
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

/** Values are numbered, so that counting a document adds to a few places of an array. */
class FacetIndex {
  readonly #generationOf = new Map<string, number>();
  readonly #valuesOf = new Map<number, Int32Array>();
  readonly #metadataOf = new Map<number, Int32Array>();
  readonly #facets = new Map<string, Map<Scalar, number>>();
  #numbered = 0;

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
    this.#metadataOf.delete(generation);
  }

  put(documentId: string, generation: number, of: FacetOf): void {
    this.remove(documentId);
    this.#generationOf.set(documentId, generation);
    const values = facetNames.flatMap((name) => {
      const value = readers[name](of);
      return value === undefined ? [] : [this.#numberOf(name, value)];
    });
    this.#valuesOf.set(generation, Int32Array.from(values));
    if (of.metadata === null) return;
    const own = Object.entries(readMetadata(of.metadata)).flatMap(([key, value]) =>
      [...new Set(scalarsOf(value))].map((each) => this.#numberOf(metadataPrefix + key, each)),
    );
    this.#metadataOf.set(generation, Int32Array.from(own));
  }

  count(names: readonly FacetName[], generations: Iterable<number>): Facets {
    const counts = new Int32Array(this.#numbered);
    const isOwn = names.some((name) => metadataKeyOf(name) !== undefined);
    for (const generation of generations) {
      addTo(counts, this.#valuesOf.get(generation));
      if (isOwn) addTo(counts, this.#metadataOf.get(generation));
    }
    return Object.fromEntries(names.map((name) => [name, this.#mostFrequent(name, counts)]));
  }

  #mostFrequent(name: FacetName, counts: Int32Array): FacetCount[] {
    const all: FacetCount[] = [];
    for (const [value, number] of this.#facets.get(name) ?? []) {
      const count = counts[number] ?? 0;
      if (count > 0) all.push({ value, count });
    }
    return sortedCounts(all);
  }

  #numberOf(name: string, value: Scalar): number {
    const numbers = this.#facets.get(name) ?? new Map<Scalar, number>();
    this.#facets.set(name, numbers);
    const known = numbers.get(value);
    if (known !== undefined) return known;
    numbers.set(value, this.#numbered);
    this.#numbered += 1;
    return this.#numbered - 1;
  }
}

function addTo(counts: Int32Array, values: Int32Array | undefined): void {
  for (const value of values ?? []) counts[value] = (counts[value] as number) + 1;
}

function sortedCounts(counts: FacetCount[]): FacetCount[] {
  counts.sort((a, b) => b.count - a.count || compare(a.value, b.value));
  return counts.slice(0, limits.search.facetValuesMax);
}

/** Numbers by size, everything else as text. */
function compare(one: Scalar, other: Scalar): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  const [first, second] = [String(one), String(other)];
  if (first === second) return typeof one < typeof other ? -1 : 1;
  return first < second ? -1 : 1;
}

/** The counts of several corpora together. */
export function addFacets(all: readonly Facets[]): Facets {
  const names = new Set(all.flatMap((facets) => Object.keys(facets) as FacetName[]));
  const sums = [...names].map((name) => {
    const counts = new Map<Scalar, number>();
    for (const { value, count } of all.flatMap((facets) => facets[name] ?? [])) {
      counts.set(value, (counts.get(value) ?? 0) + count);
    }
    return [name, sortedCounts([...counts].map(([value, count]) => ({ value, count })))];
  });
  return Object.fromEntries(sums);
}

class FacetCopy implements Copy {
  readonly isOfDocuments = true;
  readonly #database: Database;
  index = new FacetIndex();

  constructor(database: Database) {
    this.#database = database;
  }

  async put(rows: readonly CurrentRow[]): Promise<void> {
    const listed = new Map(rows.map(({ id, generation_id }) => [id, generation_id]));
    for (const row of await listFacetRows(this.#database, [...listed.keys()])) {
      // A document that was replaced meanwhile comes again with its own event.
      if (row.generation_id !== listed.get(row.id)) continue;
      this.index.put(row.id, row.generation_id, row);
    }
  }

  release(): void {
    this.index = new FacetIndex();
  }
}
