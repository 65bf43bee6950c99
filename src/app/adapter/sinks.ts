/** Opens the sinks that the settings name. Adapters are loaded on demand. */
import type { World } from '../../kernel/world.ts';
import { checkSinks, isSearched, pluggedSink, type SinkPort } from '../../port/sink.ts';
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

export async function openSinks(
  settings: SinkSettings,
  world: World,
  added: readonly SinkPort[] = [],
): Promise<OpenSinks> {
  const { qdrant, neo4j } = settings;
  const ports = checkSinks(
    added,
    [qdrant && 'qdrant', neo4j && 'neo4j'].flatMap((n) => n ?? []),
  );
  const vectors = qdrant && (await import('../../sink/qdrant.ts')).openQdrant({ ...qdrant, world });
  const graph = neo4j && (await import('../../sink/neo4j.ts')).openNeo4j({ ...neo4j, world });
  const own = ports.map(pluggedSink);
  const sinks: Sink[] = [vectors, graph, ...own].filter((sink) => sink !== undefined);
  const searched = vectors ?? own.find(isSearched);
  const close = async (): Promise<void> => {
    await Promise.all(sinks.map((sink) => sink.close()));
  };
  return { sinks, searched, close };
}
