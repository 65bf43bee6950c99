/**
 * The points nearest to a query. Every statement joins on the current generation of documents: it
 * shows one moment of the store, and nothing that is not current in it.
 */
import { limits } from '../kernel/limits.ts';
import type { Reader } from './database.ts';
import type { PlaceRow } from './passages.ts';
import { indexedModel } from './points.ts';
import { type Statement, sql } from './statement.ts';

export interface PointStanding {
  /** Null: there are no vectors of this model. */
  readonly model_id: number | null;
  readonly is_indexed: boolean;
  /** There are vectors of one byte a dimension, which have no points. */
  readonly has_rough: boolean;
  /** Chunks of the corpus, counted as far as `limits.points.exactMax` documents. */
  readonly chunks: number;
}

const standing = sql<PointStanding>`
  SELECT model.id AS model_id, COALESCE(model.is_indexed, FALSE) AS is_indexed,
    EXISTS (SELECT 1 FROM vector_models AS rough WHERE rough.model = :model
      AND rough.bytes = CAST(:dimensions AS INT)) AS has_rough,
    (SELECT COALESCE(SUM(chunk_count), 0) FROM (
      SELECT chunk_count FROM documents WHERE corpus = :corpus AND caller = :caller
      LIMIT ${String(limits.points.exactMax)}) AS counted) AS chunks
  FROM (SELECT 1) AS one LEFT JOIN vector_models AS model
    ON model.model = :model AND model.bytes = 2 * CAST(:dimensions AS INT)`;

export interface PointsOf {
  readonly caller: string;
  readonly corpus: string;
  readonly model: string;
  readonly dimensions: number;
}

export async function readPointStanding(reader: Reader, of: PointsOf): Promise<PointStanding> {
  const [row] = await reader.run(standing, { ...of });
  return row ?? { model_id: null, is_indexed: false, has_rough: false, chunks: 0 };
}

export interface NearRow extends PlaceRow {
  readonly document_id: string;
  readonly score: number;
}

export interface NearRequest {
  readonly caller: string;
  readonly corpus: string;
  readonly modelId: number;
  readonly vector: ArrayLike<number>;
  readonly size: number;
  /** Only among these; among all where absent. */
  readonly places?: readonly PlaceRow[] | undefined;
}

type Build = (of: { modelId: number; dimensions: number; size: number }) => Statement<NearRow>;

export class PointReader {
  readonly #reader: Reader;
  /** The database knows a statement by itself, and prepares it once: so each is made once. */
  readonly #statements = new Map<string, Statement<NearRow>>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Compares with every point that there is, and finds exactly the nearest. */
  listExactly(request: NearRequest): Promise<NearRow[]> {
    return this.#ask(request, request.places ? 'exactAmong' : 'exact');
  }

  /** Goes through the model's index: finds nearly all of the nearest, and perhaps too few. */
  listNearly(request: NearRequest): Promise<NearRow[]> {
    return this.#ask(request, request.places ? 'indexedAmong' : 'indexed');
  }

  #ask(request: NearRequest, name: keyof typeof builds): Promise<NearRow[]> {
    const { caller, corpus, modelId, vector, size, places } = request;
    const dimensions = vector.length;
    const key = `${name} ${modelId} ${dimensions} ${size}`;
    const statement = this.#statements.get(key) ?? builds[name]({ modelId, dimensions, size });
    this.#statements.set(key, statement);
    const pairs = places?.map(({ generation_id, ordinal }) => [generation_id, ordinal]);
    return this.#reader.run(statement, {
      ...{ caller, corpus, query: `[${Array.from(vector).join(',')}]` },
      places: pairs && JSON.stringify(pairs),
    });
  }
}

const inCorpus = 'documents.corpus = :corpus AND documents.caller = :caller';
const columns = 'point.generation_id, point.ordinal, documents.id AS document_id';
const scored = '1 - (point.embedding <=> CAST(:query AS halfvec)) AS score';
const order = `ORDER BY point.embedding <=> CAST(:query AS halfvec),
  point.generation_id, point.ordinal`;

// `OFFSET 0` keeps the planner from turning the order of the two tables around: it has no
// statistics when it plans.
const exact: Build = ({ modelId, size }) => sql`
  SELECT ${columns}, ${scored} FROM documents CROSS JOIN LATERAL (
    SELECT generation_id, ordinal, embedding FROM vector_points
    WHERE model_id = ${String(modelId)} AND generation_id = documents.generation_id OFFSET 0
  ) AS point WHERE ${inCorpus} ${order} LIMIT ${String(size)}`;

const exactAmong: Build = ({ modelId, size }) => sql`
  SELECT ${columns}, ${scored} FROM {places} CROSS JOIN LATERAL (
    SELECT generation_id, ordinal, embedding FROM vector_points WHERE model_id = ${String(modelId)}
      AND generation_id = place.generation_id AND ordinal = place.ordinal OFFSET 0
  ) AS point CROSS JOIN LATERAL (
    SELECT id FROM documents WHERE generation_id = point.generation_id AND ${inCorpus} OFFSET 0
  ) AS documents ${order} LIMIT ${String(size)}`;

const indexed: Build = (of) => throughIndex(of, '');

// Not as a join: the places are put into a table of hashes, and each point is looked up there.
const indexedAmong: Build = (of) =>
  throughIndex(
    of,
    `AND ((point.generation_id, point.ordinal) IN (
      SELECT place.generation_id, place.ordinal FROM {places})) IS TRUE`,
  );

const builds = { exact, exactAmong, indexed, indexedAmong };

function throughIndex(
  { modelId, dimensions, size }: Parameters<Build>[0],
  filter: string,
): Statement<NearRow> {
  const type = `halfvec(${dimensions})`;
  const distance = `(point.embedding::${type}) <=> CAST(:query AS ${type})`;
  const current = `FROM documents WHERE documents.generation_id = point.generation_id
    AND ${inCorpus}`;
  return sql`
    SELECT point.generation_id, point.ordinal, (SELECT documents.id ${current}) AS document_id,
      1 - (${distance}) AS score
    FROM vector_points AS point WHERE ${indexedModel('point.model_id', modelId)} ${filter}
      AND EXISTS (SELECT 1 ${current} OFFSET 0)
    ORDER BY ${distance} LIMIT ${String(size)}`;
}
