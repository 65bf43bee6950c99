/** The directory of callers, in a process that serves HTTP and has a store. */
import type { Audit } from '../../access/audit.ts';
import { CallerDirectory } from '../../access/caller-directory.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { pause } from '../../kernel/world.ts';
import type { NewsListener } from '../../service/stream/news.ts';
import type { Assembled } from '../wire.ts';

export interface OpenCallers {
  readonly directory: CallerDirectory;
  /** Clears cached callers and shares when the event log shows a change. */
  readonly follow: NewsListener;
}

export function openCallers(
  { database, engine, corpora, attempt, world, onError }: Assembled,
  audit: Audit,
): OpenCallers {
  const onMerge = async (): Promise<void> => {
    const waited = new AbortController();
    const moving = engine.callers.carryOut().catch((error) => onError('moves', error));
    // The jobs are moved in any case: the request waits for a bounded time only.
    await Promise.race([moving, pause(world, limits.caller.moveWaitMs, waited.signal)]);
    waited.abort();
  };
  const directory = new CallerDirectory({ database, audit, onMerge, now: () => world.now() });
  const follow: NewsListener = (published) => {
    const changes = published.filter(({ event }) => /^(caller|corpus)_/.test(event.kind));
    if (changes.length === 0) return;
    directory.forget();
    corpora.forget();
    for (const { event } of changes) {
      const { caller, from } = event.detail ?? {};
      if (event.kind === 'caller_merged') attempt.adopt(String(from), String(caller));
    }
  };
  return { directory, follow };
}
