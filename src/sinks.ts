/** Which sinks there are, by their settings. Each is loaded where it is configured. */
import type { World } from './kernel/world.ts';
import type { Sink, VectorSink } from './sink/sink.ts';

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
}

export interface OpenSinks {
  readonly sinks: readonly Sink[];
  /** The one whose vectors are searched; the store's own where absent. */
  readonly searched: VectorSink | undefined;
  close(): Promise<void>;
}

export async function openSinks(settings: SinkSettings, world: World): Promise<OpenSinks> {
  const { qdrant } = settings;
  const searched = qdrant && (await import('./sink/qdrant.ts')).openQdrant({ ...qdrant, world });
  const sinks: Sink[] = [searched].filter((sink) => sink !== undefined);
  const close = async (): Promise<void> => {
    await Promise.all(sinks.map((sink) => sink.close()));
  };
  return { sinks, searched, close };
}
