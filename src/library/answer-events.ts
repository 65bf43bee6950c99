/**
 * Runs an answer to its end apart from its reader, so that closing Pawl waits for what has to be
 * charged. A reader that leaves, a signal and the closing end the request to the model.
 */
import { asFailure, type Lifetime } from './call/lifetime.ts';

export async function* whileRead<Event>(
  lifetime: Lifetime,
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal) => AsyncIterable<Event>,
): AsyncGenerator<Event, void, undefined> {
  const leaving = new AbortController();
  const ending = [leaving.signal, lifetime.ending, ...(signal ? [signal] : [])];
  const held: Event[] = [];
  let isOver = false;
  let wake = (): void => undefined;
  const running = lifetime.run(async () => {
    try {
      for await (const event of open(AbortSignal.any(ending))) {
        held.push(event);
        wake();
      }
    } finally {
      isOver = true;
      wake();
    }
  });
  // The reader gets the failure, if it is still there.
  running.catch(() => undefined);
  try {
    for (;;) {
      const next = held.shift();
      if (next !== undefined) yield next;
      else if (isOver) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    await running;
  } catch (error) {
    signal?.throwIfAborted();
    throw await asFailure(Promise.reject(error)).catch((failure: unknown) => failure);
  } finally {
    leaving.abort();
  }
}
