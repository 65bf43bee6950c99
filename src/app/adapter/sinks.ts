/** Which sinks there are, by their settings. Each is loaded where it is configured. */
import type { World } from '../../kernel/world.ts';
import type { Sink, VectorSink } from '../../sink/sink.ts';

export interface SinkSettings {
  /** Vectors are delivered there, and searched there. */
  readonly qdrant?:
    | {
        readonly url: string;
        readonly key?: string | undefined;
        /** What the names of its collections begin with. */
        readonly prefix?: string | undefined;
      }
    | undefined;
  /** Entities and their relations are delivered there. */
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
  /** The one whose vectors are searched; the store's own where absent. */
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
