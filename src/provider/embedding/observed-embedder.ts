/** An embedder that reports its calls. */
import type { World } from '../../kernel/world.ts';
import type { ModelCall } from '../../observe/trace.ts';
import type { Embedder } from './embedding.ts';

export function observed(
  embedder: Embedder,
  world: World,
  onCall: (call: ModelCall) => void,
): Embedder {
  return {
    model: embedder.model,
    meter: embedder.meter,
    pace: embedder.pace,
    origin: embedder.origin,
    close: async () => embedder.close?.(),
    async embed(texts, signal, keep) {
      const startMs = world.now();
      const told = {
        operation: 'embeddings',
        model: embedder.model,
        texts: texts.length,
        startMs,
      } as const;
      try {
        const answer = await embedder.embed(texts, signal, keep);
        onCall({ ...told, tokens: answer.tokensIn, endMs: world.now(), isFailed: false });
        return answer;
      } catch (error) {
        onCall({ ...told, tokens: 0, endMs: world.now(), isFailed: true });
        throw error;
      }
    },
  };
}
