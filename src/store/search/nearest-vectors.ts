/**
 * The vectors nearest to a query. Every statement joins on the current generation of documents, so
 * its result is one consistent snapshot of current content.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Reader } from '../driver/database.ts';
import { type Parameters, type Statement, sql } from '../driver/statement.ts';
import type { PlaceRow } from './passages.ts';
import { indexedModel } from './pgvector-rows.ts';

export interface PointStanding {
  /** Null: there are no vectors of this model. */
  readonly model_id: number | null;
  readonly is_indexed: boolean;
  /** Some vectors have one byte per dimension, and those are not in pgvector. */
  readonly has_rough: boolean;
  /** Chunks of the corpus, counted up to `limits.points.exactMax` documents. */
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
  /** Only among these; among all if absent. */
  readonly within?: Within | undefined;
}

interface Place {
  readonly generationId: number;
  readonly ordinal: number;
}

export type Within =
  | { readonly generations: readonly number[] }
  | { readonly places: readonly Place[] };

interface Shape {
  readonly modelId: number;
  readonly dimensions: number;
  readonly size: number;
}

type Build = (of: Shape) => Statement<NearRow>;

export class PointReader {
  readonly #reader: Reader;
  /** A statement is prepared once per object, so each object is created once. */
  readonly #statements = new Map<string, Statement<NearRow>>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Compares with every vector and finds exactly the nearest. */
  listExactly(request: NearRequest): Promise<NearRow[]> {
    return this.#ask(request, 'exact');
  }

  /** Uses the model's index: finds nearly all of the nearest, and possibly too few. */
  listNearly(request: NearRequest): Promise<NearRow[]> {
    return this.#ask(request, 'indexed');
  }

  #ask(request: NearRequest, way: keyof typeof builds): Promise<NearRow[]> {
    const { caller, corpus, modelId, vector, size, within } = request;
    const dimensions = vector.length;
    const among = within === undefined ? 'all' : 'places' in within ? 'places' : 'generations';
    const key = `${way} ${among} ${modelId} ${dimensions} ${size}`;
    const made = this.#statements.get(key) ?? builds[way][among]({ modelId, dimensions, size });
    this.#statements.set(key, made);
    return this.#reader.run(made, {
      caller,
      corpus,
      query: `[${Array.from(vector).join(',')}]`,
      ...(within && listOf(within)),
    });
  }
}

function listOf(within: Within): Parameters {
  if ('generations' in within) return { ids: JSON.stringify(within.generations) };
  const pairs = within.places.map(({ generationId, ordinal }) => [generationId, ordinal]);
  return { places: JSON.stringify(pairs) };
}

const inCorpus = 'documents.corpus = :corpus AND documents.caller = :caller';
const columns = 'point.generation_id, point.ordinal, documents.id AS document_id';
const scored = '1 - (point.embedding <=> CAST(:query AS halfvec)) AS score';
const order = `ORDER BY point.embedding <=> CAST(:query AS halfvec),
  point.generation_id, point.ordinal`;

// `OFFSET 0` keeps the planner from reordering the two tables: it has no statistics when it plans.
const exact: Build = (of) => amongDocuments(of, '');

// Not a join, here and below: the list becomes a hash table for lookups.
const listed = 'SELECT jsonb_array_elements_text(:ids)::bigint';
const exactOfGenerations: Build = (of) =>
  amongDocuments(of, `AND (documents.generation_id IN (${listed})) IS TRUE`);

const exactOfPlaces: Build = ({ modelId, size }) => sql`
  SELECT ${columns}, ${scored} FROM {places} CROSS JOIN LATERAL (
    SELECT generation_id, ordinal, embedding FROM vector_points WHERE model_id = ${String(modelId)}
      AND generation_id = place.generation_id AND ordinal = place.ordinal OFFSET 0
  ) AS point CROSS JOIN LATERAL (
    SELECT id FROM documents WHERE generation_id = point.generation_id AND ${inCorpus} OFFSET 0
  ) AS documents ${order} LIMIT ${String(size)}`;

const indexed: Build = (of) => throughIndex(of, '');

const indexedOfGenerations: Build = (of) =>
  throughIndex(of, `AND (point.generation_id IN (${listed})) IS TRUE`);

const indexedOfPlaces: Build = (of) =>
  throughIndex(
    of,
    `AND ((point.generation_id, point.ordinal) IN (
      SELECT place.generation_id, place.ordinal FROM {places})) IS TRUE`,
  );

const builds = {
  exact: { all: exact, generations: exactOfGenerations, places: exactOfPlaces },
  indexed: { all: indexed, generations: indexedOfGenerations, places: indexedOfPlaces },
};

function amongDocuments({ modelId, size }: Shape, filter: string): Statement<NearRow> {
  return sql`
    SELECT ${columns}, ${scored} FROM documents CROSS JOIN LATERAL (
      SELECT generation_id, ordinal, embedding FROM vector_points
      WHERE model_id = ${String(modelId)} AND generation_id = documents.generation_id OFFSET 0
    ) AS point WHERE ${inCorpus} ${filter} ${order} LIMIT ${String(size)}`;
}

function throughIndex({ modelId, dimensions, size }: Shape, filter: string): Statement<NearRow> {
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
