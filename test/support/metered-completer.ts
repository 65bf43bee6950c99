/** A model with costs, in memory: it counts its requests. */
import { Failure } from '../../src/kernel/failure/failure.ts';
import type { Completer, CompletionRequest } from '../../src/provider/completion/completion.ts';
import type { Prices, Tokens } from '../../src/provider/prices.ts';

export interface MeteredCompleter extends Completer {
  /** The passage of every request, each time it was answered. */
  readonly asked: string[];
  /** Called before each response; throws to refuse it. */
  before: (request: CompletionRequest) => void | Promise<void>;
  /** The response; truncated if it is empty. */
  answer: string;
  /** Of every request, and of every response. */
  tokens: Tokens;
}

export function meteredCompleter(
  prices: Prices | undefined = { input: 10_000, output: 100_000 },
): MeteredCompleter {
  const asked: string[] = [];
  const metered: MeteredCompleter = {
    model: 'metered-model',
    prices,
    asked,
    before: () => undefined,
    answer: '{"entities":[]}',
    tokens: { input: 100, output: 10 },
    async complete(request, signal, keep) {
      await metered.before(request);
      signal.throwIfAborted();
      asked.push(request.input.split('\n').slice(1, -1).join('\n'));
      const isCut = metered.answer === '';
      const outcome = isCut ? new Failure('step_output_invalid', 'cut short') : metered.answer;
      const { tokens } = metered;
      await keep?.({ outcome, tokens });
      return { outcome, tokens, isPayer: true };
    },
  };
  return metered;
}
