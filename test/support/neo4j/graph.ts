/**
 * A graph in memory that carries out Pawl's own statements, each by its own function: other
 * statements are refused. That the Cypher matches the function is checked by review, and by a real
 * Neo4j if one is given to the suite.
 */
import * as statements from '../../../src/sink/neo4j-statements.ts';
import type { Packed } from './pack-stream.ts';

interface DocumentNode {
  readonly id: string;
  readonly caller: string;
  readonly corpus: string;
  readonly source: string;
  title: string | null;
  language: string | null;
  generation: number;
}

interface EntityNode {
  readonly key: string;
  readonly caller: string;
  readonly corpus: string;
  readonly kind: string;
  readonly name: string;
}

interface Names {
  readonly document: string;
  readonly entity: string;
  readonly generation: number;
  mentions: number;
  aliases: string[];
}

interface NamedWith {
  readonly one: string;
  readonly other: string;
  readonly document: string;
  readonly generation: number;
  weight: number;
}

export interface Graph {
  readonly documents: Map<string, DocumentNode>;
  readonly entities: Map<string, EntityNode>;
  readonly names: Map<string, Names>;
  readonly named: Map<string, NamedWith>;
  readonly schema: Set<string>;
}

export function emptyGraph(): Graph {
  return {
    documents: new Map(),
    entities: new Map(),
    names: new Map(),
    named: new Map(),
    schema: new Set(),
  };
}

export type Row = Readonly<Record<string, Packed>>;

interface Given {
  readonly id: string;
  readonly caller: string;
  readonly corpus: string;
  readonly source: string;
  readonly title: string | null;
  readonly language: string | null;
  readonly name: string;
  readonly generation: number;
  readonly current: number;
  readonly asOf: number;
  readonly limit: number;
  readonly keys: readonly string[];
  /** Each statement has some of these. */
  readonly rows: readonly (Omit<EntityNode, 'caller' | 'corpus'> & Names & NamedWith)[];
}

type Run = (graph: Graph, given: Given) => Row[];

const isNamed = ({ names, named }: Graph, key: string): boolean =>
  [...names.values()].some(({ entity }) => entity === key) ||
  [...named.values()].some(({ one, other }) => one === key || other === key);

const runs = new Map<string, Run>([
  [statements.ping, () => [{ one: 1 }]],
  [
    statements.writeDocument,
    ({ documents }, { id, caller, corpus, source }) => {
      const made = { id, caller, corpus, source, title: null, language: null, generation: 0 };
      documents.set(id, documents.get(id) ?? made);
      return [];
    },
  ],
  [
    statements.writeEntities,
    ({ documents, entities, names }, { id, caller, corpus, generation, rows }) => {
      if (!documents.has(id)) return [];
      for (const { key, kind, name, mentions, aliases } of rows) {
        entities.set(key, entities.get(key) ?? { key, caller, corpus, kind, name });
        const made = { document: id, entity: key, generation, mentions, aliases };
        names.set(`${id}/${key}/${generation}`, made);
      }
      return [];
    },
  ],
  [
    statements.writeRelations,
    ({ entities, named }, { id, generation, rows }) => {
      for (const { one, other, weight } of rows) {
        if (!entities.has(one) || !entities.has(other)) continue;
        const made = { one, other, document: id, generation, weight };
        named.set(`${one}/${other}/${id}/${generation}`, made);
      }
      return [];
    },
  ],
  [
    statements.flip,
    ({ documents }, { id, current, asOf, title, language }) => {
      const found = documents.get(id);
      if (!found || found.generation > asOf) return [];
      Object.assign(found, { generation: current, title, language });
      return [];
    },
  ],
  [
    statements.removeNames,
    ({ names }, { id, asOf, current }) => {
      const keys = new Set<string>();
      for (const [at, { document, entity, generation }] of names) {
        if (document !== id || generation > asOf || generation === current) continue;
        names.delete(at);
        keys.add(entity);
      }
      return [...keys].map((key) => ({ key }));
    },
  ],
  [
    statements.removeRelations,
    ({ named }, { id, asOf, current }) => {
      for (const [at, { document, generation }] of named) {
        if (document === id && generation <= asOf && generation !== current) named.delete(at);
      }
      return [];
    },
  ],
  [
    statements.removeUnnamed,
    (graph, { keys }) => {
      for (const key of keys) if (!isNamed(graph, key)) graph.entities.delete(key);
      return [];
    },
  ],
  [
    statements.removeDocument,
    ({ documents, names }, { id, asOf }) => {
      const hasNames = [...names.values()].some(({ document }) => document === id);
      if (!hasNames && (documents.get(id)?.generation ?? 0) <= asOf) documents.delete(id);
      return [];
    },
  ],
  [
    statements.listCorpora,
    ({ documents }) =>
      [...new Set([...documents.values()].map(({ corpus }) => corpus))].map((corpus) => ({
        corpus,
      })),
  ],
  [
    statements.removeDocuments,
    ({ documents, names }, { corpus, limit }) => {
      const gone = [...documents.values()].filter((each) => each.corpus === corpus).slice(0, limit);
      for (const { id } of gone) {
        documents.delete(id);
        for (const [at, { document }] of names) if (document === id) names.delete(at);
      }
      return [{ count: gone.length }];
    },
  ],
  [
    statements.removeEntities,
    ({ entities, named, names }, { corpus, limit }) => {
      const gone = [...entities.values()].filter((each) => each.corpus === corpus).slice(0, limit);
      for (const { key } of gone) {
        entities.delete(key);
        for (const [at, { one, other }] of named)
          if (one === key || other === key) named.delete(at);
        for (const [at, { entity }] of names) if (entity === key) names.delete(at);
      }
      return [{ count: gone.length }];
    },
  ],
  [
    statements.countDocuments,
    ({ documents }, { corpus }) => [
      { count: [...documents.values()].filter((each) => each.corpus === corpus).length },
    ],
  ],
  [
    statements.currentEntities,
    ({ documents, entities, names }, { caller, corpus, limit }) => {
      const found = [...names.values()].filter(({ document, generation }) => {
        const of = documents.get(document);
        return of?.caller === caller && of.corpus === corpus && of.generation === generation;
      });
      return [...Map.groupBy(found, ({ entity }) => entity)].slice(0, limit).map(([key, all]) => {
        const { kind, name } = entities.get(key) as EntityNode;
        const mentions = all.reduce((sum, each) => sum + each.mentions, 0);
        return { kind, name, mentions, documents: all.length };
      });
    },
  ],
  [
    statements.currentRelations,
    ({ documents, entities, named }, { caller, corpus, name, limit }) => {
      const rows = [...named.values()].flatMap(({ one, other, document, generation, weight }) => {
        if (documents.get(document)?.generation !== generation) return [];
        const ends = [entities.get(one), entities.get(other)] as EntityNode[];
        return ends.flatMap((end, index) => {
          const isAsked = end.name === name && end.caller === caller && end.corpus === corpus;
          const { kind = '', name: found = '' } = ends[1 - index] ?? {};
          return isAsked ? [{ kind, name: found, weight, documents: 1 }] : [];
        });
      });
      return rows.slice(0, limit);
    },
  ],
  ...statements.schema.map((statement): [string, Run] => [
    statement,
    ({ schema }) => {
      schema.add(statement);
      return [];
    },
  ]),
]);

/** Undefined: the statement is not one of Pawl's. */
export function runStatement(graph: Graph, text: string, given: Row): Row[] | undefined {
  return runs.get(text)?.(graph, given as unknown as Given);
}
