/** Models that report their calls. */
import { Failure } from '../kernel/failure/failure.ts';
import type { World } from '../kernel/world.ts';
import type { ModelCall } from '../observe/trace.ts';
import type { Completer } from './completion/completion.ts';
import { type Embedder, type Embeddings, embedQuery } from './embedding/embedding.ts';

type OnCall = (call: ModelCall) => void;
type Outcome = Pick<ModelCall, 'tokens' | 'tokensOut' | 'isFailed'>;

export function observedEmbedder(embedder: Embedder, world: World, onCall: OnCall): Embedder {
  const { model } = embedder;
  const observe = observer(world, onCall);
  const call = (texts: number, run: () => Promise<Embeddings>): Promise<Embeddings> =>
    observe({ operation: 'embeddings', model, texts }, run, ({ tokensIn }) => {
      return { tokens: tokensIn, isFailed: false };
    });
  return {
    ...embedder,
    embed: (texts, signal, keep) => call(texts.length, () => embedder.embed(texts, signal, keep)),
    embedQuery: (text, signal) => call(1, () => embedQuery(embedder, text, signal)),
  };
}

export function observedCompleter(completer: Completer, world: World, onCall: OnCall): Completer {
  const { model } = completer;
  const observe = observer(world, onCall);
  return {
    ...completer,
    complete: (request, signal, keep) =>
      observe(
        { operation: 'chat', model, texts: 1 },
        () => completer.complete(request, signal, keep),
        ({ tokens: { input: tokens, output: tokensOut }, outcome }) => {
          return { tokens, tokensOut, isFailed: outcome instanceof Failure };
        },
      ),
  };
}

function observer(world: World, onCall: OnCall) {
  return async <T>(
    call: Pick<ModelCall, 'operation' | 'model' | 'texts'>,
    run: () => Promise<T>,
    outcomeOf: (answer: T) => Outcome,
  ): Promise<T> => {
    const startMs = world.now();
    let outcome: Outcome = { tokens: 0, isFailed: true };
    try {
      const answer = await run();
      outcome = outcomeOf(answer);
      return answer;
    } finally {
      onCall({ ...call, ...outcome, startMs, endMs: world.now() });
    }
  };
}
