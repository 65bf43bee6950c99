/**
 * Search by the vectors in Postgres with pgvector. Few candidates are all compared; with many, the
 * index is used, and all are compared only if a filter leaves the index too few. Hits are reordered
 * by the full vectors, as in memory: both give the same scores.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Database } from '../../store/driver/database.ts';
import {
  type NearRequest,
  type NearRow,
  PointReader,
  type PointStanding,
  readPointStanding,
  type Within,
} from '../../store/search/nearest-vectors.ts';
import { arePointsFilled } from '../../store/search/pgvector-rows.ts';
import type { MirrorSearch, VectorIndex } from './mirror.ts';
import type { VectorHit } from './partition.ts';
import { rescoreStored } from './rescore.ts';

export type PointPlan = 'none' | 'otherwise' | 'exactly' | 'nearly';

/** `rows`: the number of candidate chunks, counted only as far as it matters. */
export function planPoints(
  status: PointStanding,
  rows: number,
  exactMax: number = limits.points.exactMax,
): PointPlan {
  if (status.has_rough) return 'otherwise';
  if (status.model_id === null || rows === 0) return 'none';
  return status.is_indexed && rows > exactMax ? 'nearly' : 'exactly';
}

export interface PointIndexOptions {
  readonly database: Database;
  /** Serves until pgvector has all vectors, and if it cannot store them. */
  readonly otherwise: VectorIndex;
  /** Up to so many candidates, all are compared. */
  readonly exactMax?: number | undefined;
}

export class PointIndex implements VectorIndex {
  readonly #options: PointIndexOptions;
  readonly #points: PointReader;

  constructor(options: PointIndexOptions) {
    this.#options = options;
    this.#points = new PointReader(options.database);
  }

  async search(request: MirrorSearch): Promise<VectorHit[]> {
    const { database, otherwise } = this.#options;
    const isFit = request.vector.length <= limits.points.dimensionsMax;
    if (!isFit || !(await arePointsFilled(database))) return otherwise.search(request);
    for (let { allowed } = request, round = 0; ; round += 1) {
      const hits = await this.#searchOnce({ ...request, allowed });
      // A document that was replaced, with only its old generation in the filter, would be missed.
      const renewed = await allowed?.renewed();
      if (!renewed || round >= limits.search.restartsMax) return hits;
      allowed = renewed;
    }
  }

  async #searchOnce(request: MirrorSearch): Promise<VectorHit[]> {
    const { database, otherwise, exactMax } = this.#options;
    const { caller, corpus, model, vector, allowed } = request;
    const dimensions = vector.length;
    const status = await readPointStanding(database, { caller, corpus, model, dimensions });
    const within = allowed?.within();
    const rows = within ? sizeOf(within) : status.chunks;
    const plan = planPoints(status, rows, exactMax);
    if (plan === 'otherwise') return otherwise.search(request);
    if (plan === 'none') return [];
    const near = toNearRequest(request, status.model_id ?? 0, within);
    const found = plan === 'nearly' ? await this.#nearly(near, rows) : undefined;
    const hits = (found ?? (await this.#points.listExactly(near))).map(toHit);
    return rescoreStored(database, request, hits);
  }

  /** Undefined if the index scan ended before enough candidates had passed the filter. */
  async #nearly(near: NearRequest, rows: number): Promise<NearRow[] | undefined> {
    const found = await this.#points.listNearly(near);
    return found.length < Math.min(near.size, rows) ? undefined : found;
  }
}

/** At least one chunk per document. */
function sizeOf(within: Within): number {
  return 'places' in within ? within.places.length : within.generations.length;
}

function toNearRequest(
  { caller, corpus, vector, size }: MirrorSearch,
  modelId: number,
  within: Within | undefined,
): NearRequest {
  return { caller, corpus, vector, size, modelId, within };
}

function toHit({ document_id, generation_id, ordinal, score }: NearRow): VectorHit {
  // Zero vectors have no direction: pgvector returns NaN as their distance.
  const cosine = Number.isNaN(score) ? 0 : score;
  return { documentId: document_id, generationId: generation_id, ordinal, score: cosine };
}
