/** Opens the sinks that the settings name. Adapters are loaded on demand. */
import type { World } from '../../kernel/world.ts';
import type { Sink, VectorSink } from '../../sink/sink.ts';

export interface SinkSettings {
  /** Vectors are delivered to Qdrant, and searched there. */
  readonly qdrant?:
    | {
        readonly url: string;
        readonly key?: string | undefined;
        /** The prefix of its collection names. */
        readonly prefix?: string | undefined;
      }
    | undefined;
  /** Entities and relations are delivered to Neo4j. */
  readonly neo4j?:
    | {
        readonly url: string;
        readonly user: string;
        readonly password?: string | undefined;
        readonly database?: string | undefined;
      }
    | undefined;
}

export interface OpenSinks {
  readonly sinks: readonly Sink[];
  /** The sink that answers vector searches; undefined: the store does. */
  readonly searched: VectorSink | undefined;
  close(): Promise<void>;
}

export async function openSinks(settings: SinkSettings, world: World): Promise<OpenSinks> {
  const { qdrant, neo4j } = settings;
  const searched =
    qdrant && (await import('../../sink/qdrant.ts')).openQdrant({ ...qdrant, world });
  const graph = neo4j && (await import('../../sink/neo4j.ts')).openNeo4j({ ...neo4j, world });
  const sinks: Sink[] = [searched, graph].filter((sink) => sink !== undefined);
  const close = async (): Promise<void> => {
    await Promise.all(sinks.map((sink) => sink.close()));
  };
  return { sinks, searched, close };
}
