/**
 * All Cypher statements. Document content is passed as parameters, never as Cypher. The graph:
 *
 *   (:PawlDocument {id, caller, corpus, source, title, language, generation})
 *   (:PawlEntity {key, caller, corpus, kind, name})
 *   (:PawlDocument)-[:NAMES {generation, mentions, aliases}]->(:PawlEntity)
 *   (:PawlEntity)-[:NAMED_WITH {document, generation, weight}]->(:PawlEntity)
 *
 * A relationship is current while its generation equals that of its document. So one property of
 * one node selects the current generation, and readers never see a mix of two. A query that runs
 * while a document is replaced may find nothing of it, because Neo4j has no snapshots.
 */
export const schema: readonly string[] = [
  'CREATE CONSTRAINT pawl_document IF NOT EXISTS FOR (d:PawlDocument) REQUIRE d.id IS UNIQUE',
  'CREATE CONSTRAINT pawl_entity IF NOT EXISTS FOR (e:PawlEntity) REQUIRE e.key IS UNIQUE',
  'CREATE INDEX pawl_document_corpus IF NOT EXISTS FOR (d:PawlDocument) ON (d.corpus)',
  'CREATE INDEX pawl_entity_corpus IF NOT EXISTS FOR (e:PawlEntity) ON (e.corpus, e.name)',
  'CREATE INDEX pawl_named_with IF NOT EXISTS FOR ()-[w:NAMED_WITH]-() ON (w.document)',
];

export const ping = 'RETURN 1 AS one';

/** A new document has no current generation yet. */
export const writeDocument = `
MERGE (d:PawlDocument {id: $id})
ON CREATE SET d.caller = $caller, d.corpus = $corpus, d.source = $source, d.generation = 0`;

export const writeEntities = `
MATCH (d:PawlDocument {id: $id})
UNWIND $rows AS row
MERGE (e:PawlEntity {key: row.key})
ON CREATE SET e.caller = $caller, e.corpus = $corpus, e.kind = row.kind, e.name = row.name
MERGE (d)-[n:NAMES {generation: $generation}]->(e)
SET n.mentions = row.mentions, n.aliases = row.aliases`;

export const writeRelations = `
UNWIND $rows AS row
MATCH (one:PawlEntity {key: row.one})
MATCH (other:PawlEntity {key: row.other})
MERGE (one)-[w:NAMED_WITH {document: $id, generation: $generation}]->(other)
SET w.weight = row.weight`;

/** A late flip, after a newer generation became current, changes nothing. */
export const flip = `
MATCH (d:PawlDocument {id: $id})
WHERE d.generation <= $asOf
SET d.generation = $current, d.title = $title, d.language = $language`;

/** Returns entities that may have no document left. */
export const removeNames = `
MATCH (d:PawlDocument {id: $id})-[n:NAMES]->(e:PawlEntity)
WHERE n.generation <= $asOf AND n.generation <> $current
DELETE n
RETURN DISTINCT e.key AS key`;

export const removeRelations = `
MATCH ()-[w:NAMED_WITH {document: $id}]->()
WHERE w.generation <= $asOf AND w.generation <> $current
DELETE w`;

export const removeUnnamed = `
UNWIND $keys AS key
MATCH (e:PawlEntity {key: key})
WHERE NOT (e)--()
DELETE e`;

/** A document that is being written again stays, without a current generation. */
export const removeDocument = `
MATCH (d:PawlDocument {id: $id})
WHERE d.generation <= $asOf AND NOT (d)--()
DELETE d`;

export const listCorpora = 'MATCH (d:PawlDocument) RETURN DISTINCT d.corpus AS corpus';

export const removeDocuments = `
MATCH (d:PawlDocument {corpus: $corpus})
WITH d LIMIT $limit
DETACH DELETE d
RETURN count(*) AS count`;

export const removeEntities = `
MATCH (e:PawlEntity {corpus: $corpus})
WITH e LIMIT $limit
DETACH DELETE e
RETURN count(*) AS count`;

export const countDocuments = `
MATCH (d:PawlDocument {corpus: $corpus})
RETURN count(d) AS count`;

/**
 * For external readers: the current entities of a corpus. Neo4j reads each record as it is at that
 * moment, so the generation is read first, and entities that are removed meanwhile are skipped.
 */
export const currentEntities = `
MATCH (d:PawlDocument {caller: $caller, corpus: $corpus})
WITH d, d.generation AS current
MATCH (d)-[n:NAMES {generation: current}]->(e:PawlEntity)
WHERE e.name IS NOT NULL
RETURN e.kind AS kind, e.name AS name, sum(n.mentions) AS mentions, count(d) AS documents
ORDER BY mentions DESC, documents DESC, kind, name
LIMIT $limit`;

/** For external readers: the entities that are currently named together with an entity. */
export const currentRelations = `
MATCH (e:PawlEntity {caller: $caller, corpus: $corpus, name: $name})-[w:NAMED_WITH]-(o:PawlEntity)
MATCH (d:PawlDocument {id: w.document})
WHERE w.generation = d.generation AND o.name IS NOT NULL
RETURN o.kind AS kind, o.name AS name, sum(w.weight) AS weight, count(d) AS documents
ORDER BY weight DESC, documents DESC, kind, name
LIMIT $limit`;
