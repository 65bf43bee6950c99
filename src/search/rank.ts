/** Ranks the passages: fuses the lists of a mode with their weights. */
import { limits } from '../kernel/limits/limits.ts';
import { type CorpusEmbedders, corpusEmbedder } from '../pipeline/corpus-origin.ts';
import { type Analyzer, fallbackLanguage } from '../pipeline/word/analysis.ts';
import { type Embedder, embedQuery, type HybridWeights } from '../provider/embedding/embedding.ts';
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
import { chooseTerms, termsOf } from './feedback.ts';
import type { Allowed } from './filter/allowed.ts';
import type { FilterCache } from './filter/filter-cache.ts';
import {
  type Fused,
  fuse,
  type ListName,
  placeKey,
  type RankedList,
  type ScoreRange,
} from './fusion.ts';
import type { ParsedQuery } from './query/query.ts';
import { QueryTerms, type SoughtTerms } from './query/query-terms.ts';
import { type Suggestion, suggest } from './query/suggest.ts';
import { unrelatedCosine } from './relevance.ts';
import { type SearchRequest, toPassageFilter, topKOf } from './request.ts';
import type { VectorIndex } from './vector/mirror.ts';
import type { VectorHit } from './vector/partition.ts';
import type { WordIndex } from './word/word-index.ts';
import type { WordMirror } from './word/word-mirror.ts';
import type { WordSearch, WordsFound } from './word/word-search.ts';

/**
 * For the built-in model. Chosen on the queries with even ids of `npm run bench -- search`, and on
 * questions about the manuals of Git and SQLite (docs/decisions/0157).
 */
export const defaultWeights: HybridWeights = { keyword: 0.35, vector: 0.15, feedback: 0.5 };
/** For the first two lists alone: without feedback, and to choose the hits for feedback. */
const firstWeights = { keyword: 0.7, vector: 0.3 };

export interface RankOptions extends CorpusEmbedders {
  readonly database: Database;
  readonly mirror: VectorIndex;
  readonly words: WordMirror;
  readonly filters: FilterCache;
  /** Caches across searches. */
  readonly analyzer: Analyzer;
  /** Those of the model if absent. */
  readonly weights?: HybridWeights | undefined;
}

export interface Ranking {
  readonly fused: readonly Fused[];
  /** The lists that were fused. */
  readonly lists: readonly RankedList[];
  readonly weights: Readonly<Partial<Record<ListName, number>>>;
  readonly feedbackTerms: readonly string[];
  /** What was looked for; undefined if the corpus is too large to hold its words. */
  readonly sought: SoughtTerms | undefined;
  /** The highest possible keyword score; undefined if the database has scored. */
  readonly bound: number | undefined;
  /** How many passages have any of the words, and their generations. */
  readonly matched: number;
  readonly generations: ReadonlySet<number>;
  readonly suggestions: readonly Suggestion[];
  /** The cosine of unrelated texts. */
  readonly unrelated: number;
}

type Lists = Pick<Ranking, 'fused' | 'lists' | 'weights' | 'feedbackTerms'>;

/** A request whose operators were read. */
export interface RankRequest extends SearchRequest {
  readonly parsed: ParsedQuery;
}

export async function rankPassages(options: RankOptions, request: RankRequest): Promise<Ranking> {
  const filter = toPassageFilter(request.filter);
  const allowed = filter && (await options.filters.read({ ...request, filter }));
  const mode = request.mode ?? 'hybrid';
  const { caller, corpus } = request;
  await options.words.prepare({ caller, corpus });
  const words = await findWords(options, request, { filter, allowed });
  const of = { allowed, words };
  const {
    unrelated,
    rows: vector,
    ...model
  } = mode === 'keyword' ? noVectors : await vectorRows(options, request, of);
  const keyword = words.rows;
  const lists = async (): Promise<Lists> => {
    if (mode === 'vector') return alone('vector', vector);
    if (mode === 'keyword') return alone('keyword', keyword);
    const first = {
      keyword: { rows: keyword, range: rangeTo(words.bound) },
      vector: { rows: vector, range: { lowest: unrelated, highest: 1 } },
      allowed,
      weights: { ...(options.weights ?? model.weights), ...request.weights },
    };
    return hybrid(options, request, first);
  };
  const { rows: _, occurs: __, ...found } = words;
  return { ...(await lists()), ...found, unrelated };
}

function alone(name: ListName, rows: readonly ScoredRow[]): Lists {
  const lists = [{ name, weight: 1, rows }];
  return { fused: fuse(lists), lists, weights: { [name]: 1 }, feedbackTerms: [] };
}

type Scored = Pick<RankedList, 'rows' | 'range'>;

interface FirstLists {
  readonly keyword: Scored;
  readonly vector: Scored;
  readonly weights: HybridWeights;
  readonly allowed: Allowed | undefined;
}

/** Undefined if the database has scored: its scores have no highest value. */
function rangeTo(bound: number | undefined): ScoreRange | undefined {
  return bound === undefined ? undefined : { lowest: 0, highest: bound };
}

async function hybrid(
  options: RankOptions,
  request: SearchRequest,
  { keyword, vector, weights, allowed }: FirstLists,
): Promise<Lists> {
  const firstGiven = request.weights ? weights : firstWeights;
  const firstLists: RankedList[] = [
    { name: 'keyword', weight: firstGiven.keyword, rows: keyword.rows },
    { name: 'vector', weight: firstGiven.vector, rows: vector.rows },
  ];
  const first = fuse(firstLists);
  // Terms from passages that match none of the query words would lead away from the query.
  const matches = keyword.rows.length;
  const isSupported = matches >= limits.search.feedbackMatchesMin && weights.feedback > 0;
  const feedback = isSupported ? await feedbackOf(options, request, { first, allowed }) : undefined;
  if (!feedback) {
    const { keyword: one, vector: other } = firstGiven;
    return {
      fused: first,
      lists: firstLists,
      weights: { keyword: one, vector: other },
      feedbackTerms: [],
    };
  }
  const lists: RankedList[] = [
    { name: 'keyword', weight: weights.keyword, ...keyword },
    { name: 'vector', weight: weights.vector, ...vector },
    { name: 'feedback', weight: weights.feedback, ...feedback.list },
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
  { database, words, analyzer }: RankOptions,
  { caller, corpus }: SearchRequest,
  { first, allowed }: Lenders,
): Promise<{ words: string[]; list: Scored } | undefined> {
  const places = first.slice(0, limits.search.feedbackHits);
  const rows = await getPassages(database, { caller, corpus, places });
  const byPlace = new Map(rows.map((row) => [placeKey(row), row]));
  const passages = places.flatMap((place) => byPlace.get(placeKey(place)) ?? []);
  const lent = termsOf(passages, analyzer);
  const allTerms = () => [...lent.keys()];
  return words.use({ caller, corpus }, allTerms, (index) => {
    const chosen = chooseTerms(lent, index);
    if (chosen.length === 0) return undefined;
    const terms = chosen.map(({ stem }) => stem);
    const weights = chosen.map(({ weight }) => weight);
    const found = rowsWith(index, { terms, weights, isCounted: false }, allowed);
    const list = { rows: found.rows, range: rangeTo(found.bound) };
    return { words: chosen.map(({ word }) => word), list };
  });
}

/** What the words of the query found. */
interface WordRows extends Omit<Ranking, keyof Lists | 'unrelated'> {
  readonly rows: readonly ScoredRow[];
  /** Whether any word of the query is in the corpus. */
  readonly occurs: boolean;
}

const noRows: WordRows = {
  rows: [],
  occurs: false,
  sought: undefined,
  bound: undefined,
  matched: 0,
  generations: new Set(),
  suggestions: [],
};

async function findWords(
  options: RankOptions,
  { caller, corpus, parsed, mode }: RankRequest,
  { filter, allowed }: { filter: PassageFilter | undefined; allowed: Allowed | undefined },
): Promise<WordRows> {
  const { analyzer, database } = options;
  const query = new QueryTerms(analyzer, parsed);
  if (query.words.length === 0) return noRows;
  const allTerms = () => query.allTerms();
  // Stop words are not in memory; a query of stop words alone is answered by the database.
  const found = query.isTelling
    ? await options.words.use({ caller, corpus }, allTerms, (index) =>
        wordRows(index, query.seek(languagesOf(index)), { analyzer, allowed, mode }),
      )
    : undefined;
  if (found) return found;
  const limit = limits.search.candidatesMax;
  const words = query.words.map(({ word }) => word);
  if (mode === 'vector') return { ...noRows, occurs: true };
  const rows = await listMatching(database, {
    caller,
    corpus,
    words,
    filter,
    documentIds: allowed && [...allowed.documents.keys()],
    limit,
  });
  const generations = new Set(rows.map(({ generation_id }) => generation_id));
  const languages = [fallbackLanguage];
  const sought = { ...query.seek(languages), languages };
  return { ...noRows, rows, occurs: true, sought, matched: rows.length, generations };
}

function languagesOf(index: WordIndex): readonly string[] {
  return index.languages.length > 0 ? index.languages : [fallbackLanguage];
}

interface WordSearching {
  readonly analyzer: Analyzer;
  readonly allowed: Allowed | undefined;
  readonly mode: SearchRequest['mode'];
}

/** Undefined if all words are stop words in the languages of the corpus. */
function wordRows(
  index: WordIndex,
  sought: SoughtTerms,
  { analyzer, allowed, mode }: WordSearching,
): WordRows | undefined {
  if (sought.terms.length === 0) return undefined;
  const missing = sought.words.filter(
    (_, place) => !sought.terms[place]?.some((term) => index.chunksWith(term) > 0),
  );
  const occurs = missing.length < sought.words.length;
  const suggestions = index.isWhole
    ? suggest(index, analyzer, { languages: sought.languages, words: missing })
    : [];
  if (mode === 'vector') return { ...noRows, occurs, sought, suggestions };
  const { rows, ...found } = rowsWith(index, sought, allowed);
  return { ...found, rows, occurs, sought, suggestions };
}

function rowsWith(
  index: WordIndex,
  sought: Pick<WordSearch, 'terms' | 'weights' | 'required' | 'excluded' | 'isCounted'>,
  allowed: Allowed | undefined,
): Omit<WordsFound, 'hits'> & { rows: ScoredRow[] } {
  const size = limits.search.candidatesMax;
  const { hits, ...found } = index.find({ ...sought, size, allowed });
  return { ...found, rows: hits.map(toRow) };
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

interface FoundVectors {
  readonly rows: readonly ScoredRow[];
  readonly unrelated: number;
  /** Of the lists, for this model. */
  readonly weights: HybridWeights;
}

const noVectors: FoundVectors = { rows: [], unrelated: unrelatedCosine, weights: defaultWeights };

async function vectorRows(
  options: RankOptions,
  request: RankRequest,
  { allowed, words }: { allowed: Allowed | undefined; words: WordRows },
): Promise<FoundVectors> {
  const { mirror } = options;
  const { caller, corpus, parsed, near } = request;
  const embedder = await embedderFor(options, request);
  if (!embedder) return noVectors;
  const isLost = !words.occurs && near !== true;
  // Without a word that the corpus or the model knows, the nearest vectors are arbitrary.
  if (isLost && !(await isKnown(embedder, words.sought))) return noVectors;
  const signal = AbortSignal.timeout(limits.search.timeoutMs);
  const [bytes] = (await embedQuery(embedder, parsed.text, signal)).vectors;
  if (!bytes?.some((value) => value !== 0)) return noVectors;
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
  const unrelated = embedder.unrelatedCosine ?? unrelatedCosine;
  const rows = hits.map(toRow);
  // Unrelated passages would fill the results of a query with few matches, and be counted.
  const isRelated = isLost || (near !== true && request.mode !== 'vector');
  const found = isRelated ? rows.filter(({ score }) => score > unrelated) : rows;
  return { rows: found, unrelated, weights: embedder.hybridWeights ?? defaultWeights };
}

/** A model without a vocabulary, such as one behind an API, reads any word. */
async function isKnown(embedder: Embedder, sought: SoughtTerms | undefined): Promise<boolean> {
  if (!embedder.knows) return true;
  for (const { word } of sought?.words ?? []) if (await embedder.knows(word)) return true;
  return false;
}
