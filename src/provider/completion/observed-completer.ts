/** A completer that reports its calls. */
import { Failure } from '../../kernel/failure/failure.ts';
import type { World } from '../../kernel/world.ts';
import type { ModelCall } from '../../observe/trace.ts';
import type { Completer } from './completion.ts';

export function observedCompleter(
  completer: Completer,
  world: World,
  onCall: (call: ModelCall) => void,
): Completer {
  const { model, prices, origin } = completer;
  return {
    model,
    prices,
    origin,
    close: async () => completer.close?.(),
    async complete(request, signal, keep) {
      const told = { operation: 'chat', model, texts: 1, startMs: world.now() } as const;
      try {
        const answer = await completer.complete(request, signal, keep);
        const { input: tokens, output: tokensOut } = answer.tokens;
        const isFailed = answer.outcome instanceof Failure;
        onCall({ ...told, tokens, tokensOut, endMs: world.now(), isFailed });
        return answer;
      } catch (error) {
        onCall({ ...told, tokens: 0, endMs: world.now(), isFailed: true });
        throw error;
      }
    },
  };
}
