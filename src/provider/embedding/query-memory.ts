/**
 * Caches the vectors of recent queries. People page, refine and repeat, and a restarted search
 * needs the same vector: a query is paid for once.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { type Embedder, type Embeddings, embedQuery } from './embedding.ts';

export function withQueryMemory(embedder: Embedder): Embedder {
  if (!embedder.meter) return embedder;
  /** Least recently used first. */
  const known = new Map<string, Promise<Embeddings>>();
  const remembered = (query: string, signal: AbortSignal): Promise<Embeddings> => {
    const answer = known.get(query) ?? embedQuery(embedder, query, signal);
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
  };
  return { ...embedder, embedQuery: remembered };
}
