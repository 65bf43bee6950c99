/**
 * From query to passages. Up to three lists are fused: keywords, vectors, and keywords from the
 * first hits. One statement reads the passages and sees only current generations. If a document was
 * replaced between a list and that statement, the search starts again, so a document is seen in
 * exactly one generation, never in both and never in neither.
 */
import { Turns } from '../concurrency/turns.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { type Metadata, readMetadata } from '../kernel/metadata/metadata.ts';
import { attachmentNameOf } from '../kernel/name/attachment.ts';
import type { CorpusEmbedders } from '../pipeline/corpus-origin.ts';
import { Analyzer } from '../pipeline/word/analysis.ts';
import type { HybridWeights } from '../provider/embedding/embedding.ts';
import { hasCorpus } from '../store/document/documents.ts';
import type { Database } from '../store/driver/database.ts';
import { getPassages, type PassageRow } from '../store/search/passages.ts';
import { FacetMirror, type Facets, metadataKeyOf } from './facet.ts';
import { FilterCache } from './filter/filter-cache.ts';
import { checkKeys } from './filter/where-check.ts';
import { foldSimilar } from './fold.ts';
import { type Fused, type ListName, type Part, partsOf, placeKey } from './fusion.ts';
import { discountRepeats, spread } from './group.ts';
import { type Highlight, type Marking, markTerms } from './highlight.ts';
import { isFitting } from './query/condition.ts';
import { hasConditions, parseQuery } from './query/query.ts';
import { writtenAs } from './query/suggest.ts';
import { type Ranking, type RankOptions, type RankRequest, rankPassages } from './rank.ts';
import { relevanceOf } from './relevance.ts';
import {
  checkRequest,
  filterWith,
  type SearchRequest,
  toPassageFilter,
  topKOf,
} from './request.ts';
import { type Reranker, type Reranking, rerank, rerankedAtLeast } from './rerank.ts';
import type { SavedCopies } from './saved/saved-copies.ts';
import { Mirror, type VectorIndex } from './vector/mirror.ts';
import { WordMirror } from './word/word-mirror.ts';

export interface Hit {
  readonly chunkId: string;
  readonly text: string;
  /** Orders the hits of one search. */
  readonly score: number;
  /** From 0 to 1, comparable between queries. */
  readonly relevance: number;
  /** The passage has none of the words: it was found by its vector alone. */
  readonly near: boolean;
  readonly sourceUrl: string;
  readonly documentId: string;
  readonly title: string | null;
  /** The heading path. */
  readonly heading: string;
  /** The page or slide of the document on which the passage begins; null if it has none. */
  readonly page: number | null;
  /** The place of the passage in its document, from 0. */
  readonly ordinal: number;
  /** Positions of the query words in the text. */
  readonly highlights: readonly Highlight[];
  /** How many near-duplicates were folded into this passage. */
  readonly similar: number;
  /** The metadata of the document. */
  readonly metadata: Metadata;
  /** Further passages of the document that were found and are not among these hits. */
  readonly moreInDocument: number;
  /** Further passages of the document, if hits are grouped by document. */
  readonly passages?: readonly Hit[];
  readonly explanation?: Explanation;
}

export interface Explanation {
  readonly parts: readonly Part[];
  readonly terms: readonly string[];
  readonly feedbackTerms: readonly string[];
  readonly weights: Readonly<Partial<Record<ListName, number>>>;
}

export interface Found {
  readonly hits: Hit[];
  /** How many passages match, beyond those returned. */
  readonly total: number;
  readonly facets: Facets;
  /** A query with its misspelt words corrected; null if none is. */
  readonly didYouMean: string | null;
  /** Undefined: there is no reranker, or nothing to order. */
  readonly reranking?: Reranking | undefined;
}

export interface SearcherOptions extends CorpusEmbedders {
  readonly database: Database;
  /** Those of the model if absent. */
  readonly weights?: HybridWeights | undefined;
  /** The vector index; in memory if absent. */
  readonly mirror?: VectorIndex | undefined;
  readonly words?: WordMirror | undefined;
  /** Saves the indexes of large corpora for other processes; nothing is saved if absent. */
  readonly saved?: SavedCopies | undefined;
  /** Orders the first passages; the fused order stays if absent. */
  readonly reranker?: Reranker | undefined;
}

type Passage = PassageRow & { readonly fused: Fused };

export class Searcher {
  readonly #options: Required<Omit<SearcherOptions, 'reranker' | 'weights' | 'saved'>> &
    RankOptions;
  readonly #reranker: Reranker | undefined;
  readonly #saved: SavedCopies | undefined;
  readonly #facets: FacetMirror;
  readonly #turns = new Turns();

  constructor(options: SearcherOptions) {
    const { embedder, otherEmbedder, weights, mirror, words, saved } = options;
    const database = options.database.early;
    this.#facets = new FacetMirror(database);
    this.#options = {
      database,
      embedder,
      otherEmbedder: otherEmbedder ?? (() => undefined),
      weights,
      mirror: mirror ?? new Mirror(database, { saved }),
      words: words ?? new WordMirror(database, { saved }),
      filters: new FilterCache(database),
      analyzer: new Analyzer(),
    };
    this.#reranker = options.reranker;
    this.#saved = saved;
  }

  async search(request: SearchRequest): Promise<Hit[]> {
    return (await this.find(request)).hits;
  }

  /** Saves the indexes of the large corpora that were searched, if no process has saved them. */
  async keep(): Promise<void> {
    await this.#options.words.keep();
    await this.#saved?.whenSaved();
  }

  /** Reads early, and waits for the disk once: an error also shows what was read. */
  async find(request: SearchRequest): Promise<Found> {
    await this.#turns.next();
    try {
      return await this.#find(request);
    } finally {
      await this.#options.database.flushed();
    }
  }

  async #find(request: SearchRequest): Promise<Found> {
    const { database } = this.#options;
    checkRequest(request);
    if (!(await hasCorpus(database, request.corpus))) {
      const name = JSON.stringify(request.corpus);
      throw new Failure('corpus_unknown', `there is no corpus ${name}`);
    }
    const keys = (request.facets ?? []).flatMap((name) => metadataKeyOf(name) ?? []);
    await checkKeys(database, request, keys);
    const parsed = parseQuery(request.query, request.syntax);
    const ranked = { ...request, parsed, filter: filterWith(request.filter, parsed) };
    for (let attempt = 1; ; attempt++) {
      const { isWhole, ...found } = await this.#findOnce(ranked);
      if (isWhole || attempt > limits.search.restartsMax) return found;
    }
  }

  async #findOnce(request: RankRequest): Promise<Found & { isWhole: boolean }> {
    const ranking = await rankPassages(this.#options, request);
    const relevance = relevanceOf(ranking);
    const { minScore = 0 } = request;
    const { fused } = ranking;
    const above = minScore === 0 ? fused : fused.filter((one) => relevance(one) >= minScore);
    const fitting = await this.#fitting(request, ranking, above);
    const count = rerankedAtLeast(this.#reranker, (request.offset ?? 0) + topKOf(request));
    const { places, isGrouped } = placesFor(request, fitting.places, count);
    const read = await this.#readRanked(request, places, count);
    const hits = this.#toHits(request, { ranking, relevance, read, isGrouped });
    const all = fitting.places;
    return {
      hits: withMore(hits, { all, rows: read.rows }),
      total: totalOf(request, ranking, all),
      facets: await this.#count(request, ranking, all),
      didYouMean: await this.#correct(request, ranking),
      reranking: read.reranking,
      isWhole: fitting.isWhole && read.isWhole,
    };
  }

  /** The candidates that meet the conditions of the query; these need their texts. */
  async #fitting(request: RankRequest, ranking: Ranking, all: readonly Fused[]) {
    if (!hasConditions(request.parsed)) return { places: all, isWhole: true };
    const { passages, isWhole } = await this.#read(request, all);
    const { analyzer } = this.#options;
    const languages = ranking.sought?.languages ?? [];
    const fits = isFitting(request.parsed, { analyzer, languages });
    return { places: passages.filter(fits).map(({ fused }) => fused), isWhole };
  }

  /** The passages, in the order of the reranker if there is one. */
  async #readRanked(request: RankRequest, places: readonly Fused[], count: number) {
    const read = await this.#read(request, places);
    const { caller, corpus, payer = { caller, corpus } } = request;
    const asked = { query: request.parsed.text, read: count, corpus: { caller, corpus }, payer };
    return { ...read, ...(await rerank(this.#reranker, asked, read.passages)) };
  }

  async #read({ caller, corpus, filter: given }: RankRequest, places: readonly Fused[]) {
    // The filter was read before the lists. Documents that were replaced since then are filtered
    // here, by their current state.
    const filter = toPassageFilter(given);
    const rows = await getPassages(this.#options.database, { caller, corpus, places, filter });
    const byPlace = new Map(rows.map((row) => [placeKey(row), row]));
    const passages = places.flatMap((fused): Passage[] => {
      const row = byPlace.get(placeKey(fused));
      return row ? [{ ...row, fused }] : [];
    });
    return { rows, passages, isWhole: passages.length === places.length };
  }

  #toHits(request: RankRequest, { ranking, relevance, read, isGrouped }: Shaping): Hit[] {
    const topK = topKOf(request);
    const { offset = 0, explain } = request;
    const { sought } = ranking;
    const marking = {
      analyzer: this.#options.analyzer,
      languages: sought?.languages ?? [],
      terms: new Set(sought?.terms.flat()),
    };
    const folds = foldSimilar(read.passages);
    const documentOf = ({ first }: (typeof folds)[number]) => first.document_id;
    const ordered = isGrouped ? spread(folds, { documentOf, size: offset + topK }) : folds;
    const shape = ({ first, others }: (typeof folds)[number]): Hit => {
      const marked = markTerms(first.text, marking);
      const hit: Hit = {
        ...toHit(first),
        relevance: relevance(first.fused),
        near: marked.stems.length === 0 && isNear(first, marking),
        highlights: marked.highlights,
        similar: others.length,
      };
      if (!explain) return hit;
      const { lists, feedbackTerms, weights } = ranking;
      const parts = partsOf(lists, first.fused);
      return { ...hit, explanation: { parts, terms: marked.stems, feedbackTerms, weights } };
    };
    if (request.group !== 'document') return ordered.slice(offset, offset + topK).map(shape);
    const groups = [...Map.groupBy(folds, documentOf).values()].slice(offset, offset + topK);
    return groups.map((group) => {
      const [first, ...others] = group.slice(0, limits.search.groupPassagesMax).map(shape);
      return { ...(first as Hit), passages: others };
    });
  }

  #count(request: RankRequest, ranking: Ranking, all: readonly Fused[]): Promise<Facets> {
    const { caller, corpus, facets = [] } = request;
    if (facets.length === 0) return Promise.resolve({});
    const generations = isCounted(request, ranking)
      ? ranking.generations
      : new Set(all.map(({ generation_id }) => generation_id));
    return this.#facets.count({ caller, corpus }, facets, generations);
  }

  /** The query with the words that the corpus has instead. */
  async #correct({ caller, corpus, query }: RankRequest, ranking: Ranking): Promise<string | null> {
    const { suggestions, sought } = ranking;
    if (suggestions.length === 0 || !sought) return null;
    const { analyzer, database, words } = this.#options;
    let corrected = query;
    for (const { word, instead, term } of suggestions) {
      const terms = () => [term];
      const hits = await words.use({ caller, corpus }, terms, (index) =>
        index.search({ terms: [term], size: 1 }),
      );
      const places = (hits ?? []).map(({ generationId, ordinal }) => ({
        generation_id: generationId,
        ordinal,
      }));
      const [row] = await getPassages(database, { caller, corpus, places });
      const text = row && [row.title ?? '', row.heading, row.text].join('\n');
      const { languages } = sought;
      const written = text && writtenAs(text, term, { analyzer, languages });
      corrected = replaceWord(corrected, word, written ?? instead);
    }
    return corrected === query ? null : corrected;
  }
}

interface Shaping {
  readonly ranking: Ranking;
  readonly relevance: (place: Fused) => number;
  readonly read: { readonly passages: readonly Passage[] };
  readonly isGrouped: boolean;
}

/** The passages to read: twice as many as shown, so that folding leaves no gap, or `least`. */
function placesFor(request: RankRequest, all: readonly Fused[], least: number) {
  const size = Math.max(((request.offset ?? 0) + topKOf(request)) * 2, least);
  const { group = true } = request;
  const documentOf = ({ generation_id }: Fused): number => generation_id;
  if (group === 'document') return { places: firstOfDocuments(all, size), isGrouped: false };
  if (!group) return { places: all.slice(0, size), isGrouped: false };
  return { places: spread(discountRepeats(all), { documentOf, size }), isGrouped: true };
}

/** The best passages of the first documents. */
function firstOfDocuments(all: readonly Fused[], size: number): Fused[] {
  const counts = new Map<number, number>();
  return all.filter(({ generation_id: id }) => {
    const count = (counts.get(id) ?? 0) + 1;
    if (count === 1 && counts.size === size) return false;
    counts.set(id, count);
    return count <= limits.search.groupPassagesMax;
  });
}

/** Whether the index has counted all passages that match, not only the candidates. */
function isCounted({ mode, minScore = 0, parsed }: RankRequest, { matched }: Ranking): boolean {
  return mode !== 'vector' && minScore === 0 && !hasConditions(parsed) && matched > 0;
}

function totalOf(request: RankRequest, ranking: Ranking, all: readonly Fused[]): number {
  return isCounted(request, ranking) ? Math.max(ranking.matched, all.length) : all.length;
}

/** No word of the query is in the title or the heading either. */
function isNear({ title, heading }: PassageRow, marking: Marking): boolean {
  if (marking.terms.size === 0) return false;
  return markTerms(`${title ?? ''}\n${heading}`, marking).stems.length === 0;
}

/** Counts the candidates of each document that are not shown. */
function withMore(
  hits: readonly Hit[],
  { all, rows }: { all: readonly Fused[]; rows: readonly PassageRow[] },
): Hit[] {
  const generationOf = new Map(rows.map((row) => [row.document_id, row.generation_id]));
  const found = new Map<number, number>();
  for (const { generation_id: id } of all) found.set(id, (found.get(id) ?? 0) + 1);
  const shown = new Map<string, number>();
  for (const { documentId, similar, passages = [] } of hits) {
    const count = 1 + similar + passages.length;
    shown.set(documentId, (shown.get(documentId) ?? 0) + count);
  }
  return hits.map((hit) => {
    const candidates = found.get(generationOf.get(hit.documentId) ?? -1) ?? 0;
    const more = Math.max(candidates - (shown.get(hit.documentId) ?? 0), 0);
    return { ...hit, moreInDocument: more };
  });
}

function replaceWord(query: string, word: string, other: string): string {
  const found = query.toLowerCase().indexOf(word);
  if (found < 0) return query;
  return query.slice(0, found) + other + query.slice(found + word.length);
}

/** Without the id of an inline document, which is in its source to tell documents apart. */
function givenUrl(source: string): string {
  const isNamed = /^https?:/.test(source) && attachmentNameOf(source) === undefined;
  return isNamed ? source.replace(/#.*$/s, '') : source;
}

function toHit(row: Passage): Omit<Hit, 'relevance' | 'near' | 'highlights' | 'similar'> {
  return {
    chunkId: row.key,
    text: row.text,
    score: row.fused.score,
    sourceUrl: givenUrl(row.source),
    documentId: row.document_id,
    title: row.title,
    heading: row.heading,
    page: row.page,
    ordinal: row.ordinal,
    moreInDocument: 0,
    metadata: readMetadata(row.metadata),
  };
}
