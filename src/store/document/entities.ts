/**
 * Entities with their mentions, and pairs that are mentioned together. They belong to a generation
 * and are visible while it is current. Mentions are offsets in the document's text, so they need no
 * chunks.
 */
import type { Reader, Transaction } from '../driver/database.ts';
import { all } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';

export interface NewEntity {
  readonly kind: string;
  readonly name: string;
  readonly aliases: readonly string[];
  /** Number of mentions; not all of them are stored. */
  readonly mentions: number;
  readonly places: readonly { readonly start: number; readonly end: number }[];
}

/** Refers to the two entities by their position in the list of entities. */
export interface NewRelation {
  readonly one: number;
  readonly other: number;
  readonly weight: number;
}

const insertEntity = sqlRows({
  generation_id: 'int',
  ordinal: 'int',
  kind: 'text',
  name: 'text',
  mentions: 'int',
  aliases: 'json',
  places: 'json',
})`
  INSERT INTO entities (generation_id, ordinal, kind, name, mentions, aliases, places)
  SELECT :generation_id, :ordinal, :kind, :name, :mentions, :aliases, :places {rows}`;
const insertRelation = sqlRows({ generation_id: 'int', one: 'int', other: 'int', weight: 'int' })`
  INSERT INTO entity_relations (generation_id, one, other, weight)
  SELECT :generation_id, :one, :other, :weight {rows}`;

export async function insertEntities(
  transaction: Transaction,
  generationId: number,
  found: { entities: readonly NewEntity[]; relations: readonly NewRelation[] },
): Promise<void> {
  await transaction.each(
    insertEntity,
    found.entities.map(({ aliases, places, ...entity }, ordinal) => ({
      ...entity,
      generation_id: generationId,
      ordinal,
      aliases: JSON.stringify(aliases),
      places: JSON.stringify(places.flatMap(({ start, end }) => [start, end - start])),
    })),
  );
  await transaction.each(
    insertRelation,
    found.relations.map((relation) => ({ ...relation, generation_id: generationId })),
  );
}

export interface EntityFilter {
  readonly caller: string;
  readonly corpus: string;
  readonly kind?: string | undefined;
  readonly limit: number;
}

/** An entity across a whole corpus. */
export interface EntityRow {
  readonly kind: string;
  readonly name: string;
  readonly mentions: number;
  readonly documents: number;
}

const current = `documents JOIN entities ON entities.generation_id = documents.generation_id
  WHERE documents.corpus = :corpus AND documents.caller = :caller`;
const order = 'ORDER BY mentions DESC, documents DESC, kind, name LIMIT :limit';
const entitiesWith = (filter: string) => sql<EntityRow>`
  SELECT entities.kind, entities.name, CAST(SUM(entities.mentions) AS {int}) AS mentions,
    COUNT(*) AS documents FROM ${current} ${filter}
  GROUP BY entities.kind, entities.name ${order}`;
const ofCorpus = entitiesWith('');
const ofCorpusByKind = entitiesWith('AND entities.kind = :kind');

/** The entities of a corpus, most mentioned first. */
export function listEntities(reader: Reader, filter: EntityFilter): Promise<EntityRow[]> {
  const { kind, ...rest } = filter;
  return kind === undefined
    ? reader.run(ofCorpus, rest)
    : reader.run(ofCorpusByKind, { ...rest, kind });
}

/** An entity within one document. */
export interface DocumentEntity extends NewEntity {
  readonly ordinal: number;
}

interface StoredEntity extends Pick<NewEntity, 'kind' | 'name' | 'mentions'> {
  readonly ordinal: number;
  readonly aliases: string;
  readonly places: string;
}

const ofGeneration = sql<StoredEntity>`
  SELECT ordinal, kind, name, mentions, aliases, places FROM entities
  WHERE generation_id = :generation_id AND kind = COALESCE(:kind, kind)
  ORDER BY mentions DESC, ordinal LIMIT :limit`;

export async function entitiesOfGeneration(
  reader: Reader,
  generationId: number,
  { kind, limit }: { kind?: string | undefined; limit: number },
): Promise<DocumentEntity[]> {
  const filter = { generation_id: generationId, kind: kind ?? null, limit };
  const rows = await reader.run(ofGeneration, filter);
  return rows.map(({ aliases, places, ...row }) => ({
    ...row,
    aliases: JSON.parse(aliases),
    places: placesOf(JSON.parse(places)),
  }));
}

function placesOf(numbers: readonly number[]): { start: number; end: number }[] {
  return Array.from({ length: numbers.length / 2 }, (_, index) => {
    const start = numbers[index * 2] ?? 0;
    return { start, end: start + (numbers[index * 2 + 1] ?? 0) };
  });
}

export interface RelatedRow {
  readonly kind: string;
  readonly name: string;
  /** In how many passages, and in how many documents, the two are mentioned together. */
  readonly weight: number;
  readonly documents: number;
}

/** Entities mentioned together with an entity, most frequent first. */
export const listRelated = all<
  { caller: string; corpus: string; name: string; limit: number },
  RelatedRow
>`
  SELECT partner.kind, partner.name, CAST(SUM(entity_relations.weight) AS {int}) AS weight,
    COUNT(*) AS documents
  FROM documents
  JOIN entities ON entities.generation_id = documents.generation_id
  JOIN entity_relations ON entity_relations.generation_id = entities.generation_id
    AND (entity_relations.one = entities.ordinal OR entity_relations.other = entities.ordinal)
  JOIN entities partner ON partner.generation_id = entities.generation_id
    AND partner.ordinal = entity_relations.one + entity_relations.other - entities.ordinal
  WHERE documents.corpus = :corpus AND documents.caller = :caller AND entities.name = :name
  GROUP BY partner.kind, partner.name
  ORDER BY weight DESC, documents DESC, partner.kind, partner.name LIMIT :limit`;
