/** The order of the passages: the lists that a mode asks for, with their weights, fused. */
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { Embedder } from '../provider/embedding.ts';
import { fromSignedBytes } from '../provider/vector-bytes.ts';
import { getCorpusSettings } from '../store/corpus-settings.ts';
import type { Database } from '../store/database.ts';
import {
  getPassages,
  listMatching,
  type PassageFilter,
  type ScoredRow,
} from '../store/passages.ts';
import { type Allowed, readAllowed } from './allowed.ts';
import { chooseTerms, termsOf } from './feedback.ts';
import { type Fused, fuse, type ListName, type RankedList } from './fusion.ts';
import { type SearchRequest, toPassageFilter, topKOf } from './request.ts';
import { isStopWord, searchWordsOf } from './terms.ts';
import type { VectorIndex } from './vector/mirror.ts';
import type { VectorHit } from './vector/partition.ts';
import type { WordMirror } from './word/word-mirror.ts';

export type Weights = Readonly<Record<ListName, number>>;

/**
 * Chosen by `npm run bench -- search` on the queries with even ids. How it chooses was settled with
 * the other queries in view, so on collections of another kind a little less is to be expected.
 */
export const defaultWeights: Weights = { keyword: 0.3, vector: 0.15, feedback: 0.55 };
/** Of the first two lists alone: where there is no feedback, and to find whom to ask for it. */
const firstWeights = { keyword: 0.7, vector: 0.3 };

export interface RankOptions {
  readonly database: Database;
  readonly embedder: Embedder;
  readonly otherEmbedder?: ((model: string) => Embedder | undefined) | undefined;
  readonly mirror: VectorIndex;
  readonly words: WordMirror;
  /** Remembers from one search to the next. */
  readonly stemOf: (word: string) => string;
  readonly weights: Weights;
}

export interface Ranking {
  readonly fused: readonly Fused[];
  readonly weights: Readonly<Partial<Record<ListName, number>>>;
  readonly feedbackTerms: readonly string[];
}

export async function rankPassages(options: RankOptions, request: SearchRequest): Promise<Ranking> {
  const filter = toPassageFilter(request.filter);
  const { database } = options;
  const allowed = filter && (await readAllowed(database, { ...request, filter }));
  const mode = request.mode ?? 'hybrid';
  if (mode === 'vector') {
    return alone('vector', await vectorRows(options, request, allowed));
  }
  const words = searchWordsOf(request.query);
  const keyword = await keywordRows(options, request, { words, filter, allowed });
  if (mode === 'keyword') return alone('keyword', keyword);
  const vector = await vectorRows(options, request, allowed);
  return hybrid(options, request, { keyword, vector, filter, allowed });
}

function alone(name: ListName, rows: readonly ScoredRow[]): Ranking {
  return { fused: fuse([{ name, weight: 1, rows }]), weights: { [name]: 1 }, feedbackTerms: [] };
}

interface FirstLists {
  readonly keyword: readonly ScoredRow[];
  readonly vector: readonly ScoredRow[];
  readonly filter: PassageFilter | undefined;
  readonly allowed: Allowed | undefined;
}

async function hybrid(
  options: RankOptions,
  request: SearchRequest,
  { keyword, vector, filter, allowed }: FirstLists,
): Promise<Ranking> {
  const { weights } = options;
  const listsWith = (given: { keyword: number; vector: number }): RankedList[] => [
    { name: 'keyword', weight: given.keyword, rows: keyword },
    { name: 'vector', weight: given.vector, rows: vector },
  ];
  const first = fuse(listsWith(firstWeights));
  // The terms of passages that have none of the words would lead away from the query.
  const isSupported = keyword.length >= limits.search.feedbackHits;
  const words = isSupported ? await feedbackWords(options, request, first) : [];
  if (words.length === 0) return { fused: first, weights: firstWeights, feedbackTerms: [] };
  const feedback = await keywordRows(options, request, { words, filter, allowed });
  const lists: RankedList[] = [
    ...listsWith(weights),
    { name: 'feedback', weight: weights.feedback, rows: feedback },
  ];
  return { fused: fuse(lists), weights, feedbackTerms: words };
}

async function feedbackWords(
  { database, weights, words, stemOf }: RankOptions,
  { caller, corpus }: SearchRequest,
  first: readonly Fused[],
): Promise<string[]> {
  if (weights.feedback === 0) return [];
  const places = first.slice(0, limits.search.feedbackHits);
  const passages = await getPassages(database, { caller, corpus, places });
  const terms = termsOf(
    passages.map(({ text }) => text),
    stemOf,
  );
  return (await words.use({ caller, corpus }, (index) => chooseTerms(terms, index))) ?? [];
}

interface Asked {
  readonly words: readonly string[];
  readonly allowed: Allowed | undefined;
  readonly filter: PassageFilter | undefined;
}

async function keywordRows(
  options: RankOptions,
  { caller, corpus }: SearchRequest,
  { words, filter, allowed }: Asked,
): Promise<ScoredRow[]> {
  if (words.length === 0) return [];
  const size = limits.search.candidatesMax;
  const terms = words.map(options.stemOf);
  // Stop words are not held in memory; who asks for nothing else gets what the database finds.
  const hits = words.every(isStopWord)
    ? undefined
    : await options.words.use({ caller, corpus }, (index) =>
        index.search({ terms, size, isAllowed: allowed?.isAllowed }),
      );
  if (hits) return hits.map(toRow);
  return listMatching(options.database, { caller, corpus, words, filter, limit: size });
}

function toRow({ generationId, ordinal, score }: VectorHit): ScoredRow {
  return { generation_id: generationId, ordinal, score };
}

/** The query is embedded as the corpus is, whatever is configured now. */
async function embedderFor(
  { database, embedder, otherEmbedder }: RankOptions,
  { caller, corpus }: SearchRequest,
): Promise<Embedder> {
  const { model } = await getCorpusSettings(database, { caller, corpus });
  if (model === null || model === embedder.model) return embedder;
  const other = otherEmbedder?.(model);
  if (other) return other;
  throw new Failure(
    'provider_bad_request',
    `${corpus} is embedded with ${model}, which is not configured: set PAWL_EMBEDDER to it, ` +
      'embed the corpus anew, or search by keywords only',
  );
}

async function vectorRows(
  options: RankOptions,
  request: SearchRequest,
  allowed: Allowed | undefined,
): Promise<ScoredRow[]> {
  const { mirror } = options;
  const { caller, corpus, query } = request;
  const embedder = await embedderFor(options, request);
  const signal = AbortSignal.timeout(limits.search.timeoutMs);
  const [bytes] = (await embedder.embed([query], signal)).vectors;
  if (!bytes?.some((value) => value !== 0)) return [];
  const hits = await mirror.search({
    caller,
    corpus,
    model: embedder.model,
    vector: fromSignedBytes(bytes),
    size: limits.search.candidatesMax,
    // Twice what is shown, as some of it is folded away.
    rescored: Math.max(topKOf(request) * 2, limits.search.rescoredMin),
    allowed,
  });
  return hits.map(toRow);
}
