/**
 * A copy of the vectors in pgvector's own type, if the extension is installed. Triggers on
 * `vectors` maintain it in the same transaction, in every process, so vectors and copies always
 * match. As everywhere, `documents` says which of them are current.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { readCursor, setCursor } from '../delivery/cursors.ts';
import type { Database, Reader, Transaction } from '../driver/database.ts';
import { all } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

const filledPlace = 'points:filled';
const fillingPlace = 'points:filling';

/** Two bytes per dimension. */
const bytesMax = limits.points.dimensionsMax * 2;

const isPoint = `model.bytes % 2 = 0 AND model.bytes <= ${bytesMax}`;
const addPoints = (rows: string): string => `
  INSERT INTO vector_points (model_id, generation_id, ordinal, embedding)
  SELECT model.id, added.generation_id, added.ordinal, pawl_point(added.vector)
  FROM ${rows} JOIN vector_models AS model
    ON model.model = added.model AND model.bytes = length(added.vector) AND ${isPoint}
  ON CONFLICT DO NOTHING`;
const addModels = (rows: string): string => `
  INSERT INTO vector_models (model, bytes)
  SELECT DISTINCT added.model, length(added.vector) FROM ${rows} WHERE NOT EXISTS (
    SELECT 1 FROM vector_models AS known
    WHERE known.model = added.model AND known.bytes = length(added.vector))
  ON CONFLICT DO NOTHING`;

/**
 * A model's number is part of the statement text and of its index condition, where it must be a
 * constant. The bytes are copied as whole numbers, because only the direction counts. They are
 * detoasted once, not once per dimension.
 */
const preparations = [
  `CREATE TABLE vector_models (
    id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model TEXT NOT NULL,
    bytes INT NOT NULL,
    is_indexed BOOLEAN NOT NULL DEFAULT FALSE,
    UNIQUE (model, bytes)
  )`,
  `CREATE TABLE vector_points (
    model_id INT NOT NULL,
    generation_id BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (model_id, generation_id, ordinal)
  )`,
  'CREATE INDEX IF NOT EXISTS documents_generation ON documents (generation_id)',
  `CREATE FUNCTION pawl_point(stored BYTEA) RETURNS halfvec
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
  DECLARE
    plain CONSTANT BYTEA := stored || ''::bytea;
    dimensions CONSTANT INT := length(stored) / 2;
  BEGIN
    RETURN ARRAY(
      SELECT ((get_byte(plain, place) # 128) << 8)
        + (get_byte(plain, place + dimensions) # 128) - 32896
      FROM generate_series(0, dimensions - 1) AS place)::halfvec;
  END $$`,
  `CREATE FUNCTION pawl_add_points() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    ${addModels('added')};
    ${addPoints('added')};
    RETURN NULL;
  END $$`,
  `CREATE FUNCTION pawl_remove_points() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM vector_points USING removed JOIN vector_models AS model
      ON model.model = removed.model AND model.bytes = length(removed.vector)
    WHERE vector_points.model_id = model.id
      AND vector_points.generation_id = removed.generation_id
      AND vector_points.ordinal = removed.ordinal;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER vectors_points_added AFTER INSERT ON vectors
    REFERENCING NEW TABLE AS added EXECUTE FUNCTION pawl_add_points()`,
  `CREATE TRIGGER vectors_points_removed AFTER DELETE ON vectors
    REFERENCING OLD TABLE AS removed EXECUTE FUNCTION pawl_remove_points()`,
].map((text) => ({ text }));

const removals = [
  'DROP FUNCTION IF EXISTS pawl_add_points, pawl_remove_points CASCADE',
  'DROP TABLE IF EXISTS vector_points, vector_models',
  'DROP FUNCTION IF EXISTS pawl_point',
  'DROP INDEX IF EXISTS documents_generation',
  `DELETE FROM cursors WHERE name IN ('${filledPlace}', '${fillingPlace}')`,
].map((text) => ({ text }));

const lock = sql`SELECT pg_advisory_xact_lock(7302)`;
const hasPoints = sql<{ has: boolean }>`SELECT to_regclass('vector_points') IS NOT NULL AS has`;

/** Two processes may start at the same time; the second waits and finds nothing to do. */
export async function lockPoints(transaction: Transaction): Promise<void> {
  await transaction.run(lock);
}

export async function preparePoints(transaction: Transaction): Promise<void> {
  await lockPoints(transaction);
  const [points] = await transaction.run(hasPoints);
  if (points?.has) return;
  // A table that was dropped by hand leaves its triggers behind.
  for (const statement of [...removals, ...preparations]) await transaction.run(statement);
}

export async function removePoints(transaction: Transaction): Promise<void> {
  await lockPoints(transaction);
  for (const statement of removals) await transaction.run(statement);
}

/** Whether all vectors older than the triggers have been copied. */
export async function arePointsFilled(reader: Reader): Promise<boolean> {
  return (await readCursor(reader, filledPlace)) !== undefined;
}

const generationsAfter = sql<{ generation_id: number }>`
  SELECT DISTINCT generation_id FROM vectors WHERE generation_id > :after
  ORDER BY generation_id LIMIT :limit`;
/** Locked, so that no vector is removed between reading it and writing its copy. */
const older = `(SELECT generation_id, ordinal, model, vector FROM vectors
  WHERE generation_id > :after AND generation_id <= :last FOR KEY SHARE) AS added`;
const fillModels = { text: addModels(older) };
const fillPoints = { text: addPoints(older) };

/** Copies some vectors that are older than the triggers. False: there are none left. */
export async function fillSomePoints(database: Database): Promise<boolean> {
  if (await arePointsFilled(database)) return false;
  return database.write(async (transaction) => {
    await lockPoints(transaction);
    if (await arePointsFilled(transaction)) return false;
    const after = (await readCursor(transaction, fillingPlace)) ?? 0;
    const limit = limits.points.fillGenerations;
    const generations = await transaction.run(generationsAfter, { after, limit });
    const last = generations.at(-1)?.generation_id;
    if (last === undefined) {
      await setCursor(transaction, { name: filledPlace, seq: after });
      return false;
    }
    await transaction.run(fillModels, { after, last });
    await transaction.run(fillPoints, { after, last });
    await setCursor(transaction, { name: fillingPlace, seq: last });
    return true;
  });
}

export interface PointModelRow {
  readonly id: number;
  readonly bytes: number;
  readonly is_indexed: boolean;
  /** Counted up to a limit. */
  readonly points: number;
}

/** The models with copied vectors, each counted up to a limit. */
export const listPointModels = all<number, PointModelRow>`
  SELECT id, bytes, is_indexed, (SELECT COUNT(*) FROM (
    SELECT 1 FROM vector_points WHERE vector_points.model_id = vector_models.id
    LIMIT CASE WHEN is_indexed THEN 1 ELSE CAST(:limit AS BIGINT) END) AS counted) AS points
  FROM vector_models WHERE bytes % 2 = 0 AND bytes <= ${String(bytesMax)} ORDER BY id`;

/**
 * The condition of a model's index, and of the statements that use it. The addition keeps the
 * planner from the primary key: without statistics it would assume few rows for a model, read all
 * of them, and sort.
 */
export function indexedModel(column: string, id: number): string {
  return `(${column} + 0) = ${id}`;
}

const markIndexed = sql<{ id: number }>`
  UPDATE vector_models SET is_indexed = :to WHERE id = :id AND is_indexed <> :to RETURNING id`;

/** Writers of vectors wait while the index is built: the flag and the index are one commit. */
export async function setPointIndex(
  transaction: Transaction,
  { id, bytes }: PointModelRow,
  to: boolean,
): Promise<void> {
  const changed = await transaction.run(markIndexed, { id, to: String(to) });
  if (changed.length === 0) return;
  const name = `vector_points_${id}`;
  const text = to
    ? `CREATE INDEX ${name} ON vector_points
        USING hnsw ((embedding::halfvec(${bytes / 2})) halfvec_cosine_ops)
        WHERE ${indexedModel('model_id', id)}`
    : `DROP INDEX ${name}`;
  await transaction.run({ text });
}
