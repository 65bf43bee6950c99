/** The order of the passages: the lists that a mode asks for, with their weights, fused. */
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { Embedder } from '../provider/embedding.ts';
import { getCorpusSettings } from '../store/corpus-settings.ts';
import type { Database } from '../store/database.ts';
import {
  countTerms,
  getPassages,
  listAllowed,
  listMatching,
  type PassageFilter,
  type ScoredRow,
} from '../store/passages.ts';
import { chooseTerms, termsOf } from './feedback.ts';
import { type Fused, fuse, type ListName, placeKey, type RankedList } from './fusion.ts';
import { type SearchRequest, toPassageFilter } from './request.ts';
import { searchWordsOf, stemmer } from './terms.ts';
import type { Mirror } from './vector/mirror.ts';

export type Weights = Readonly<Record<ListName, number>>;

/** Tried on all queries of `bench/ranking.ts`: elsewhere a little less is to be expected. */
export const defaultWeights: Weights = { keyword: 0.4, vector: 0.2, feedback: 0.4 };
/** Of the first two lists alone: where there is no feedback, and to find whom to ask for it. */
const firstWeights = { keyword: 0.7, vector: 0.3 };

export interface RankOptions {
  readonly database: Database;
  readonly embedder: Embedder;
  readonly otherEmbedder?: ((model: string) => Embedder | undefined) | undefined;
  readonly mirror: Mirror;
  readonly weights: Weights;
}

export interface Ranking {
  readonly fused: readonly Fused[];
  readonly weights: Readonly<Partial<Record<ListName, number>>>;
  readonly feedbackTerms: readonly string[];
}

export async function rankPassages(options: RankOptions, request: SearchRequest): Promise<Ranking> {
  const filter = toPassageFilter(request.filter);
  const mode = request.mode ?? 'hybrid';
  if (mode === 'vector') {
    return alone('vector', await vectorRows(options, request, filter));
  }
  const words = searchWordsOf(request.query);
  const keyword = await keywordRows(options, request, { words, filter });
  if (mode === 'keyword') return alone('keyword', keyword);
  const vector = await vectorRows(options, request, filter);
  return hybrid(options, request, { keyword, vector, filter });
}

function alone(name: ListName, rows: readonly ScoredRow[]): Ranking {
  return { fused: fuse([{ name, weight: 1, rows }]), weights: { [name]: 1 }, feedbackTerms: [] };
}

interface FirstLists {
  readonly keyword: readonly ScoredRow[];
  readonly vector: readonly ScoredRow[];
  readonly filter: PassageFilter | undefined;
}

async function hybrid(
  options: RankOptions,
  request: SearchRequest,
  { keyword, vector, filter }: FirstLists,
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
  const feedback = await keywordRows(options, request, { words, filter });
  const lists: RankedList[] = [
    ...listsWith(weights),
    { name: 'feedback', weight: weights.feedback, rows: feedback },
  ];
  return { fused: fuse(lists), weights, feedbackTerms: words };
}

/** Postgres does not say how frequent a term is at a price that a query could pay. */
async function feedbackWords(
  { database, weights }: RankOptions,
  { caller, corpus }: SearchRequest,
  first: readonly Fused[],
): Promise<string[]> {
  if (weights.feedback === 0 || database.dialect.name !== 'sqlite') return [];
  const places = first.slice(0, limits.search.feedbackHits);
  const passages = await getPassages(database, { caller, corpus, places });
  const terms = termsOf(
    passages.map(({ text }) => text),
    stemmer(),
  );
  return chooseTerms(terms, await countTerms(database, [...terms.keys()]));
}

async function keywordRows(
  { database }: RankOptions,
  { caller, corpus }: SearchRequest,
  { words, filter }: { words: readonly string[]; filter: PassageFilter | undefined },
): Promise<ScoredRow[]> {
  if (words.length === 0) return [];
  const limit = limits.search.candidatesMax;
  return listMatching(database, { caller, corpus, words, filter, limit });
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
  filter: PassageFilter | undefined,
): Promise<ScoredRow[]> {
  const { database, mirror } = options;
  const { caller, corpus, query } = request;
  const embedder = await embedderFor(options, request);
  const signal = AbortSignal.timeout(limits.search.timeoutMs);
  const [bytes] = (await embedder.embed([query], signal)).vectors;
  if (!bytes?.some((value) => value !== 0)) return [];
  const vector = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const allowed = filter && (await listAllowed(database, { caller, corpus, filter }));
  const keys = allowed && new Set(allowed.map(placeKey));
  const hits = await mirror.search({
    caller,
    corpus,
    model: embedder.model,
    vector,
    size: limits.search.candidatesMax,
    isAllowed:
      keys &&
      (({ generationId, ordinal }) => keys.has(placeKey({ generation_id: generationId, ordinal }))),
  });
  return hits.map(({ generationId, ordinal, score }) => ({
    generation_id: generationId,
    ordinal,
    score,
  }));
}
