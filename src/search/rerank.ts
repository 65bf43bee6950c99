/**
 * Orders the first passages of a search by a second model, which reads query and passage. If it
 * fails, the order stays as it was, and the answer of the search says so.
 */
import { Failure, type FailureCode, toFailure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { CorpusPlace } from '../kernel/name/corpus-name.ts';

export interface RerankCall {
  readonly signal: AbortSignal;
  readonly corpus: CorpusPlace;
  /** The caller, with its name of the corpus. */
  readonly payer: CorpusPlace;
}

export interface Reranker {
  readonly name: string;
  /** How many of the first passages it reads. */
  readonly topN: number;
  /** One relevance from 0 to 1 for each passage. */
  relevances(
    query: string,
    passages: readonly {
      readonly id: string;
      readonly text: string;
      readonly title: string | null;
      readonly heading: string;
    }[],
    call: RerankCall,
  ): Promise<readonly number[]>;
}

interface Ranked {
  readonly key: string;
  readonly text: string;
  readonly title: string | null;
  readonly heading: string;
  readonly fused: { readonly score: number };
}

/** What became of the reranking of one search. */
export interface Reranking {
  readonly model: string;
  /** Undefined: the results are in its order. */
  readonly failure?: { readonly code: FailureCode; readonly message: string } | undefined;
}

/** How many passages it reads: never fewer than are shown. */
export function rerankedAtLeast(reranker: Reranker | undefined, shown: number): number {
  return reranker ? Math.max(reranker.topN, shown) : 0;
}

export interface RerankRequest extends Omit<RerankCall, 'signal'> {
  readonly query: string;
  readonly read: number;
}

export interface Reordered<Passage> {
  readonly passages: readonly Passage[];
  /** Undefined: there is no reranker, or nothing to order. */
  readonly reranking?: Reranking | undefined;
}

/** Passages that it has not read are dropped: their scores cannot be compared. */
export async function rerank<Passage extends Ranked>(
  reranker: Reranker | undefined,
  { query, read: count, corpus, payer }: RerankRequest,
  passages: readonly Passage[],
): Promise<Reordered<Passage>> {
  if (!reranker || passages.length === 0) return { passages };
  const read = passages.slice(0, count);
  const sent = read.map(({ key, text, title, heading }) => ({ id: key, text, title, heading }));
  const signal = AbortSignal.timeout(limits.search.timeoutMs);
  const { name: model } = reranker;
  try {
    const relevances = await reranker.relevances(query, sent, { signal, corpus, payer });
    const ordered = read
      .map((passage, place) => {
        const fused = { ...passage.fused, score: relevances[place] as number };
        return { ...passage, fused };
      })
      .sort((one, other) => other.fused.score - one.fused.score);
    return { passages: ordered, reranking: { model } };
  } catch (error) {
    const { code, message } = overdue(signal, model) ?? toFailure(error);
    return { passages, reranking: { model, failure: { code, message } } };
  }
}

function overdue(signal: AbortSignal, model: string): Failure | undefined {
  if (!signal.aborted) return undefined;
  const seconds = limits.search.timeoutMs / 1000;
  return new Failure('timeout_soft', `${model} did not order the passages in ${seconds} s`);
}
