/**
 * Search by the vectors of a sink. The sink holds the current generation of every document, and for
 * a while also the previous or the next one. One statement checks the hits against the store, and
 * only current ones are kept, so generations are never mixed. If some hits were outdated, the sink
 * is queried again without them. A document that was replaced after the first query is then found
 * in its new generation, which was in the sink before it became current, and outdated hits take no
 * room from current ones.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Near, Nearest, VectorSink } from '../../sink/sink.ts';
import { readSinkPlace } from '../../store/delivery/sinks.ts';
import { getCurrent } from '../../store/document/contents.ts';
import type { Database } from '../../store/driver/database.ts';
import type { MirrorSearch, VectorIndex } from './mirror.ts';
import type { VectorHit } from './partition.ts';

export interface SinkIndexOptions {
  readonly database: Database;
  readonly sink: VectorSink;
  /** Serves while the sink is being filled, and for a corpus that the sink does not have. */
  readonly otherwise: VectorIndex;
}

export class SinkIndex implements VectorIndex {
  readonly #options: SinkIndexOptions;

  constructor(options: SinkIndexOptions) {
    this.#options = options;
  }

  async search(request: MirrorSearch): Promise<VectorHit[]> {
    const { database, sink, otherwise } = this.#options;
    if (request.allowed?.documents.size === 0) return [];
    const isFilled = (await readSinkPlace(database, sink.name)) !== undefined;
    const hits = isFilled ? await this.#nearest(request) : undefined;
    return hits ?? otherwise.search(request);
  }

  async #nearest(request: MirrorSearch): Promise<VectorHit[] | undefined> {
    const { caller, corpus, model, vector, size } = request;
    const signal = AbortSignal.timeout(limits.search.timeoutMs);
    let { allowed } = request;
    const without = new Set<number>();
    for (let round = 0; ; round += 1) {
      const query: Nearest = {
        caller,
        corpus,
        model,
        vector,
        size,
        ...(allowed && { within: allowed.within() }),
        without: [...without],
      };
      const found = await this.#options.sink.nearest(query, signal);
      if (!found) return undefined;
      // A document that was replaced, with only its old generation in the filter, would be missed.
      const renewed = await allowed?.renewed();
      allowed = renewed ?? allowed;
      const { kept, outdated, isReplaced } = await this.#judge(request, found);
      // A list that is not full had room, so outdated hits have displaced nothing.
      const isFull = outdated.length === 0 || (!isReplaced && found.length < size);
      const isComplete = isFull && !renewed;
      if (isComplete || round >= limits.search.restartsMax) {
        return kept.filter((hit) => allowed?.isAllowed(hit) ?? true);
      }
      for (const generationId of outdated) without.add(generationId);
    }
  }

  async #judge(
    { caller, corpus }: MirrorSearch,
    found: readonly Near[],
  ): Promise<{ kept: VectorHit[]; outdated: number[]; isReplaced: boolean }> {
    const ids = [...new Set(found.map(({ documentId }) => documentId))];
    const rows = await getCurrent(this.#options.database, { caller, corpus, ids });
    const current = new Map(rows.map(({ id, generation_id }) => [id, generation_id]));
    const isKept = ({ documentId, generationId }: Near): boolean =>
      current.get(documentId) === generationId;
    const others = found.filter((near) => !isKept(near));
    return {
      kept: found.filter(isKept),
      outdated: others.map(({ generationId }) => generationId),
      isReplaced: others.some(
        ({ documentId, generationId }) => generationId < (current.get(documentId) ?? 0),
      ),
    };
  }
}
