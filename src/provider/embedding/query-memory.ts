/**
 * Caches the vectors of recent queries. People page, refine and repeat, and a restarted search
 * needs the same vector: a query is paid for once.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Embedder, Embeddings } from './embedding.ts';

export function withQueryMemory(embedder: Embedder): Embedder {
  if (!embedder.meter) return embedder;
  /** Least recently used first. */
  const known = new Map<string, Promise<Embeddings>>();
  return {
    ...embedder,
    embed(texts, signal, keep) {
      const [query] = texts;
      if (query === undefined || texts.length > 1 || keep) {
        return embedder.embed(texts, signal, keep);
      }
      const answer = known.get(query) ?? embedder.embed(texts, signal);
      known.delete(query);
      known.set(query, answer);
      for (const oldest of known.keys()) {
        if (known.size <= limits.search.queriesRememberedMax) break;
        known.delete(oldest);
      }
      return answer.catch((error: unknown) => {
        if (known.get(query) === answer) known.delete(query);
        throw error;
      });
    },
  };
}
