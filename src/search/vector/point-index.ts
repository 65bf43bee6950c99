/**
 * Search by the points that Postgres keeps with pgvector. Among few, all are compared; among many,
 * the index is asked, and all are compared only where a filter leaves it too few. What is found is
 * put in order by the whole vectors, as it is for those in memory: both give the same scores.
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

/** `rows`: how many chunks may be found, counted as far as that matters. */
export function planPoints(
  standing: PointStanding,
  rows: number,
  exactMax: number = limits.points.exactMax,
): PointPlan {
  if (standing.has_rough) return 'otherwise';
  if (standing.model_id === null || rows === 0) return 'none';
  return standing.is_indexed && rows > exactMax ? 'nearly' : 'exactly';
}

export interface PointIndexOptions {
  readonly database: Database;
  /** Answers until all vectors have their points, and where they cannot have any. */
  readonly otherwise: VectorIndex;
  /** Among so many, all are compared. */
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
      // A document of which only the old generation was asked for would be found in neither.
      const renewed = await allowed?.renewed();
      if (!renewed || round >= limits.search.restartsMax) return hits;
      allowed = renewed;
    }
  }

  async #searchOnce(request: MirrorSearch): Promise<VectorHit[]> {
    const { database, otherwise, exactMax } = this.#options;
    const { caller, corpus, model, vector, allowed } = request;
    const dimensions = vector.length;
    const standing = await readPointStanding(database, { caller, corpus, model, dimensions });
    const within = allowed?.within();
    const rows = within ? sizeOf(within) : standing.chunks;
    const plan = planPoints(standing, rows, exactMax);
    if (plan === 'otherwise') return otherwise.search(request);
    if (plan === 'none') return [];
    const near = toNearRequest(request, standing.model_id ?? 0, within);
    const found = plan === 'nearly' ? await this.#nearly(near, rows) : undefined;
    const hits = (found ?? (await this.#points.listExactly(near))).map(toHit);
    return rescoreStored(database, request, hits);
  }

  /** Undefined: the index was left before as many had passed the filter as there are. */
  async #nearly(near: NearRequest, rows: number): Promise<NearRow[] | undefined> {
    const found = await this.#points.listNearly(near);
    return found.length < Math.min(near.size, rows) ? undefined : found;
  }
}

/** Of documents at least so many chunks: each has one. */
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
  // All zeros have no direction: the database calls their distance not a number.
  const cosine = Number.isNaN(score) ? 0 : score;
  return { documentId: document_id, generationId: generation_id, ordinal, score: cosine };
}
