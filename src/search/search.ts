/**
 * From query to passages. Up to three lists are fused: keywords, vectors, and keywords from the
 * first hits. One statement reads the passages and sees only current generations. If a document was
 * replaced between a list and that statement, the search starts again, so a document is seen in
 * exactly one generation, never in both and never in neither.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { type Metadata, readMetadata } from '../kernel/metadata/metadata.ts';
import type { CorpusEmbedders } from '../pipeline/corpus-origin.ts';
import { searchWordsOf, stemmer } from '../pipeline/word/terms.ts';
import { hasCorpus } from '../store/document/documents.ts';
import type { Database } from '../store/driver/database.ts';
import { getPassages, type PassageRow } from '../store/search/passages.ts';
import { FilterCache } from './filter-cache.ts';
import { foldSimilar } from './fold.ts';
import { type Fused, type ListName, type Part, partsOf, placeKey } from './fusion.ts';
import { type Highlight, markStems } from './highlight.ts';
import { defaultWeights, type RankOptions, rankPassages, type Weights } from './rank.ts';
import { checkRequest, type SearchRequest, toPassageFilter, topKOf } from './request.ts';
import { type Reranker, rerank, rerankedAtLeast } from './rerank.ts';
import { Mirror, type VectorIndex } from './vector/mirror.ts';
import { WordMirror } from './word/word-mirror.ts';

export interface Hit {
  readonly chunkId: string;
  readonly text: string;
  readonly score: number;
  readonly sourceUrl: string;
  readonly documentId: string;
  readonly title: string | null;
  /** The heading path. */
  readonly heading: string;
  /** The page or slide of the document on which the passage begins; null if it has none. */
  readonly page: number | null;
  /** Positions of the query words in the text. */
  readonly highlights: readonly Highlight[];
  /** How many near-duplicates were folded into this passage. */
  readonly similar: number;
  /** The metadata of the document. */
  readonly metadata: Metadata;
  readonly explanation?: Explanation;
}

export interface Explanation {
  readonly parts: readonly Part[];
  readonly terms: readonly string[];
  readonly feedbackTerms: readonly string[];
  readonly weights: Readonly<Partial<Record<ListName, number>>>;
}

export interface SearcherOptions extends CorpusEmbedders {
  readonly database: Database;
  readonly weights?: Weights | undefined;
  /** The vector index; in memory if absent. */
  readonly mirror?: VectorIndex | undefined;
  readonly words?: WordMirror | undefined;
  /** Orders the first passages; the fused order stays if absent. */
  readonly reranker?: Reranker | undefined;
}

export class Searcher {
  readonly #options: Required<Omit<SearcherOptions, 'reranker'>> & RankOptions;
  readonly #reranker: Reranker | undefined;

  constructor(options: SearcherOptions) {
    const { database, embedder, otherEmbedder, weights, mirror, words } = options;
    this.#options = {
      database,
      embedder,
      otherEmbedder: otherEmbedder ?? (() => undefined),
      weights: weights ?? defaultWeights,
      mirror: mirror ?? new Mirror(database),
      words: words ?? new WordMirror(database),
      filters: new FilterCache(database),
      stemOf: stemmer(),
    };
    this.#reranker = options.reranker;
  }

  async search(request: SearchRequest): Promise<Hit[]> {
    const { database } = this.#options;
    checkRequest(request);
    if (!(await hasCorpus(database, request.corpus))) {
      const name = JSON.stringify(request.corpus);
      throw new Failure('corpus_unknown', `there is no corpus ${name}`);
    }
    for (let attempt = 1; ; attempt++) {
      const { hits, isWhole } = await this.#searchOnce(request);
      if (isWhole || attempt > limits.search.restartsMax) return hits;
    }
  }

  async #searchOnce(request: SearchRequest): Promise<{ hits: Hit[]; isWhole: boolean }> {
    const { caller, corpus, query } = request;
    const topK = topKOf(request);
    const ranking = await rankPassages(this.#options, request);
    // Twice as many, so that folding leaves no gap.
    const read = rerankedAtLeast(this.#reranker, topK);
    const places = ranking.fused.slice(0, Math.max(topK * 2, read));
    // The filter was read before the lists. Documents that were replaced since then are filtered
    // here, by their current state.
    const filter = toPassageFilter(request.filter);
    const rows = await getPassages(this.#options.database, { caller, corpus, places, filter });
    const byPlace = new Map(rows.map((row) => [placeKey(row), row]));
    const found = places.flatMap((fused) => {
      const row = byPlace.get(placeKey(fused));
      return row ? [{ ...row, fused }] : [];
    });
    const passages = await rerank(this.#reranker, { query, read }, found);
    const { stemOf } = this.#options;
    const stems = new Set(searchWordsOf(query).map(stemOf));
    const hits = foldSimilar(passages)
      .slice(0, topK)
      .map(({ first, others }) => {
        const marked = markStems(first.text, stems, stemOf);
        const hit = toHit(first, marked.highlights, others.length);
        if (!request.explain) return hit;
        const { lists, feedbackTerms, weights } = ranking;
        const parts = partsOf(lists, first.fused);
        return { ...hit, explanation: { parts, terms: marked.stems, feedbackTerms, weights } };
      });
    return { hits, isWhole: found.length === places.length };
  }
}

function toHit(
  row: PassageRow & { fused: Fused },
  highlights: readonly Highlight[],
  similar: number,
): Hit {
  return {
    chunkId: row.key,
    text: row.text,
    score: row.fused.score,
    sourceUrl: row.source,
    documentId: row.document_id,
    title: row.title,
    heading: row.heading,
    page: row.page,
    highlights,
    similar,
    metadata: readMetadata(row.metadata),
  };
}
