/**
 * Search by the points that Postgres keeps with pgvector. Among few, all are compared; among many,
 * the index is asked, and all are compared only where a filter leaves it too few. What is found is
 * put in order by the whole vectors, as it is for those in memory: both give the same scores.
 */
import { limits } from '../../kernel/limits.ts';
import type { Database } from '../../store/database.ts';
import {
  type NearRequest,
  type NearRow,
  PointReader,
  type PointStanding,
  readPointStanding,
} from '../../store/near-points.ts';
import { arePointsFilled } from '../../store/points.ts';
import type { MirrorSearch, VectorIndex } from './mirror.ts';
import type { VectorHit } from './partition.ts';
import { rescoreStored } from './rescore.ts';

export type PointPlan = 'none' | 'otherwise' | 'exactly' | 'nearly';

/** `rows`: how many chunks may be found, counted as far as that matters. */
export function planPoints(standing: PointStanding, rows: number): PointPlan {
  if (standing.has_rough) return 'otherwise';
  if (standing.model_id === null || rows === 0) return 'none';
  return standing.is_indexed && rows > limits.points.exactMax ? 'nearly' : 'exactly';
}

export class PointIndex implements VectorIndex {
  readonly #database: Database;
  readonly #otherwise: VectorIndex;
  readonly #points: PointReader;

  /** `otherwise` answers until all vectors have their points, and where they cannot have any. */
  constructor(database: Database, otherwise: VectorIndex) {
    this.#database = database;
    this.#otherwise = otherwise;
    this.#points = new PointReader(database);
  }

  async search(request: MirrorSearch): Promise<VectorHit[]> {
    const dimensions = request.vector.length;
    const isFit = dimensions <= limits.points.dimensionsMax;
    if (!isFit || !(await arePointsFilled(this.#database))) return this.#otherwise.search(request);
    const { caller, corpus, model, allowed } = request;
    const of = { caller, corpus, model, dimensions };
    const standing = await readPointStanding(this.#database, of);
    const plan = planPoints(standing, allowed?.rows.length ?? standing.chunks);
    if (plan === 'otherwise') return this.#otherwise.search(request);
    if (plan === 'none') return [];
    const rows = await this.#find(plan, toNearRequest(request, standing.model_id ?? 0));
    return rescoreStored(this.#database, request, rows.map(toHit));
  }

  async #find(plan: 'exactly' | 'nearly', near: NearRequest): Promise<NearRow[]> {
    if (plan === 'exactly') return this.#points.listExactly(near);
    const found = await this.#points.listNearly(near);
    // There are more than that: the index was left before enough of them had passed the filter.
    return found.length < near.size ? this.#points.listExactly(near) : found;
  }
}

function toNearRequest(request: MirrorSearch, modelId: number): NearRequest {
  const { caller, corpus, vector, size, allowed } = request;
  return { caller, corpus, vector, size, modelId, places: allowed?.rows };
}

function toHit({ document_id, generation_id, ordinal, score }: NearRow): VectorHit {
  // All zeros have no direction: the database calls their distance not a number.
  const cosine = Number.isNaN(score) ? 0 : score;
  return { documentId: document_id, generationId: generation_id, ordinal, score: cosine };
}
