/** Ranks the passages: fuses the lists of a mode with their weights. */
import { limits } from '../kernel/limits/limits.ts';
import { type CorpusEmbedders, corpusEmbedder } from '../pipeline/corpus-origin.ts';
import { isStopWord, searchWordsOf } from '../pipeline/word/terms.ts';
import { type Embedder, embedQuery } from '../provider/embedding/embedding.ts';
import { fromSignedBytes } from '../provider/embedding/vector-bytes.ts';
import { getCorpusSettings } from '../store/corpus/settings.ts';
import type { Database } from '../store/driver/database.ts';
import {
  getPassages,
  listMatching,
  type PassageFilter,
  type PlaceRow,
  type ScoredRow,
} from '../store/search/passages.ts';
import type { Allowed } from './allowed.ts';
import { chooseTerms, termsOf } from './feedback.ts';
import type { FilterCache } from './filter-cache.ts';
import { type Fused, fuse, type ListName, type RankedList } from './fusion.ts';
import { type SearchRequest, toPassageFilter, topKOf } from './request.ts';
import type { VectorIndex } from './vector/mirror.ts';
import type { VectorHit } from './vector/partition.ts';
import type { WordIndex } from './word/word-index.ts';
import type { WordMirror } from './word/word-mirror.ts';

export type Weights = Readonly<Record<ListName, number>>;

/**
 * Tuned with `npm run bench -- search` on the queries with even ids. The tuning method was chosen
 * with the other queries in view, so expect slightly less on other kinds of collections.
 */
export const defaultWeights: Weights = { keyword: 0.3, vector: 0.15, feedback: 0.55 };
/** For the first two lists alone: without feedback, and to choose the hits for feedback. */
const firstWeights = { keyword: 0.7, vector: 0.3 };

export interface RankOptions extends CorpusEmbedders {
  readonly database: Database;
  readonly mirror: VectorIndex;
  readonly words: WordMirror;
  readonly filters: FilterCache;
  /** Caches across searches. */
  readonly stemOf: (word: string) => string;
  readonly weights: Weights;
}

export interface Ranking {
  readonly fused: readonly Fused[];
  /** The lists that were fused. */
  readonly lists: readonly RankedList[];
  readonly weights: Readonly<Partial<Record<ListName, number>>>;
  readonly feedbackTerms: readonly string[];
}

export async function rankPassages(options: RankOptions, request: SearchRequest): Promise<Ranking> {
  const filter = toPassageFilter(request.filter);
  const allowed = filter && (await options.filters.read({ ...request, filter }));
  const mode = request.mode ?? 'hybrid';
  if (mode === 'vector') {
    return alone('vector', await vectorRows(options, request, allowed));
  }
  const { caller, corpus } = request;
  await options.words.prepare({ caller, corpus });
  const words = searchWordsOf(request.query);
  const keyword = await keywordRows(options, request, { words, filter, allowed });
  if (mode === 'keyword') return alone('keyword', keyword);
  const vector = await vectorRows(options, request, allowed);
  return hybrid(options, request, { keyword, vector, allowed });
}

function alone(name: ListName, rows: readonly ScoredRow[]): Ranking {
  const lists = [{ name, weight: 1, rows }];
  return { fused: fuse(lists), lists, weights: { [name]: 1 }, feedbackTerms: [] };
}

interface FirstLists {
  readonly keyword: readonly ScoredRow[];
  readonly vector: readonly ScoredRow[];
  readonly allowed: Allowed | undefined;
}

async function hybrid(
  options: RankOptions,
  request: SearchRequest,
  { keyword, vector, allowed }: FirstLists,
): Promise<Ranking> {
  const { weights } = options;
  const listsWith = (given: { keyword: number; vector: number }): RankedList[] => [
    { name: 'keyword', weight: given.keyword, rows: keyword },
    { name: 'vector', weight: given.vector, rows: vector },
  ];
  const firstLists = listsWith(firstWeights);
  const first = fuse(firstLists);
  // Terms from passages that match none of the query words would lead away from the query.
  const isSupported = keyword.length >= limits.search.feedbackHits;
  const feedback = isSupported ? await feedbackOf(options, request, { first, allowed }) : undefined;
  if (!feedback) {
    return { fused: first, lists: firstLists, weights: firstWeights, feedbackTerms: [] };
  }
  const lists: RankedList[] = [
    ...listsWith(weights),
    { name: 'feedback', weight: weights.feedback, rows: feedback.rows },
  ];
  return { fused: fuse(lists), lists, weights, feedbackTerms: feedback.words };
}

interface Lenders {
  /** Best first. */
  readonly first: readonly PlaceRow[];
  readonly allowed: Allowed | undefined;
}

/** The list found by terms of the first hits; undefined if they yield no terms. */
async function feedbackOf(
  { database, weights, words, stemOf }: RankOptions,
  { caller, corpus }: SearchRequest,
  { first, allowed }: Lenders,
): Promise<{ words: string[]; rows: ScoredRow[] } | undefined> {
  if (weights.feedback === 0) return undefined;
  const places = first.slice(0, limits.search.feedbackHits);
  const passages = await getPassages(database, { caller, corpus, places });
  const lent = termsOf(
    passages.map(({ text }) => text),
    stemOf,
  );
  return words.use({ caller, corpus }, [...lent.keys()], (index) => {
    const chosen = chooseTerms(lent, index);
    if (chosen.length === 0) return undefined;
    return { words: chosen, rows: rowsWith(index, chosen.map(stemOf), allowed) };
  });
}

interface KeywordQuery {
  readonly words: readonly string[];
  readonly allowed: Allowed | undefined;
  readonly filter: PassageFilter | undefined;
}

async function keywordRows(
  options: RankOptions,
  { caller, corpus }: SearchRequest,
  { words, filter, allowed }: KeywordQuery,
): Promise<ScoredRow[]> {
  if (words.length === 0) return [];
  const terms = words.map(options.stemOf);
  // Stop words are not in memory; a query of stop words alone is answered by the database.
  const rows = words.every(isStopWord)
    ? undefined
    : await options.words.use({ caller, corpus }, terms, (index) =>
        rowsWith(index, terms, allowed),
      );
  if (rows) return rows;
  const limit = limits.search.candidatesMax;
  const documentIds = allowed && [...allowed.documents.keys()];
  return listMatching(options.database, { caller, corpus, words, filter, documentIds, limit });
}

function rowsWith(
  index: WordIndex,
  terms: readonly string[],
  allowed: Allowed | undefined,
): ScoredRow[] {
  const size = limits.search.candidatesMax;
  return index.search({ terms, size, allowed }).map(toRow);
}

function toRow({ generationId, ordinal, score }: VectorHit): ScoredRow {
  return { generation_id: generationId, ordinal, score };
}

/**
 * The query is embedded with the model of the corpus, regardless of the current settings. Undefined
 * if nothing in the corpus is embedded: then the query must not leave this process.
 */
async function embedderFor(
  options: RankOptions,
  { caller, corpus }: SearchRequest,
): Promise<Embedder | undefined> {
  const { database, embedder: own } = options;
  const { model } = await getCorpusSettings(database, { caller, corpus });
  if (model === null) return own.origin ? undefined : own;
  const key = { caller, corpus, model, isBegun: true };
  const { embedder, recordFirstUse } = await corpusEmbedder(database, key, options);
  if (recordFirstUse) await database.write(recordFirstUse);
  return embedder;
}

async function vectorRows(
  options: RankOptions,
  request: SearchRequest,
  allowed: Allowed | undefined,
): Promise<ScoredRow[]> {
  const { mirror } = options;
  const { caller, corpus, query } = request;
  const embedder = await embedderFor(options, request);
  if (!embedder) return [];
  const signal = AbortSignal.timeout(limits.search.timeoutMs);
  const [bytes] = (await embedQuery(embedder, query, signal)).vectors;
  if (!bytes?.some((value) => value !== 0)) return [];
  const hits = await mirror.search({
    caller,
    corpus,
    model: embedder.model,
    vector: fromSignedBytes(bytes),
    size: limits.search.candidatesMax,
    // Twice the number shown, because some are folded.
    rescored: Math.max(topKOf(request) * 2, limits.search.rescoredMin),
    allowed,
  });
  return hits.map(toRow);
}
