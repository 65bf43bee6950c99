/** Orders the first passages of a search by a second model, which reads query and passage. */
import { limits } from '../kernel/limits/limits.ts';

export interface Reranker {
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
    signal: AbortSignal,
  ): Promise<readonly number[]>;
}

interface Ranked {
  readonly key: string;
  readonly text: string;
  readonly title: string | null;
  readonly heading: string;
  readonly fused: { readonly score: number };
}

/** How many passages it reads: never fewer than are shown. */
export function rerankedAtLeast(reranker: Reranker | undefined, shown: number): number {
  return reranker ? Math.max(reranker.topN, shown) : 0;
}

/** Passages that it has not read are dropped: their scores cannot be compared. */
export async function rerank<Passage extends Ranked>(
  reranker: Reranker | undefined,
  { query, read: count }: { readonly query: string; readonly read: number },
  passages: readonly Passage[],
): Promise<readonly Passage[]> {
  if (!reranker || passages.length === 0) return passages;
  const read = passages.slice(0, count);
  const sent = read.map(({ key, text, title, heading }) => ({ id: key, text, title, heading }));
  const signal = AbortSignal.timeout(limits.search.timeoutMs);
  const relevances = await reranker.relevances(query, sent, signal);
  return read
    .map((passage, place) => {
      const fused = { ...passage.fused, score: relevances[place] as number };
      return { ...passage, fused };
    })
    .sort((one, other) => other.fused.score - one.fused.score);
}
