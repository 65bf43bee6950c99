/**
 * Resolves the caller of a request with the store. Results are cached for seconds, and dropped when
 * the log reports a change; during a store outage the cached ones stay valid.
 */
import { findCaller, type KnownCaller, meetCaller, type Sight } from '../store/caller/callers.ts';
import type { Database } from '../store/driver/database.ts';
import type { Audit } from './audit.ts';
import type { CallerContext } from './caller.ts';
import { ShortCache } from './membership/short-cache.ts';

export interface CallerDirectoryOptions {
  readonly database: Database;
  /** Milliseconds, for the age of cached results. */
  readonly now: () => number;
  readonly audit: Audit;
  /** Two callers were merged. Resolves when their jobs are merged, or after a while. */
  readonly onMerge?: (() => Promise<void>) | undefined;
}

export class CallerDirectory {
  readonly #options: CallerDirectoryOptions;
  readonly #known: ShortCache<KnownCaller>;

  constructor(options: CallerDirectoryOptions) {
    this.#options = options;
    this.#known = new ShortCache(options.now);
  }

  /** The same context with the durable caller. */
  async resolve(context: CallerContext): Promise<CallerContext> {
    const { sight } = context;
    if (!sight) return context;
    const key = JSON.stringify([sight.key, sight.named?.kind, sight.named?.subject]);
    const { id, name } = await this.#known.get(key, () => this.#look(sight, context));
    return { ...context, callerId: id, shownId: sight.named?.subject ?? name ?? id };
  }

  forget(): void {
    this.#known.clear();
  }

  async #look(sight: Sight, context: CallerContext): Promise<KnownCaller> {
    const { database, audit, onMerge } = this.#options;
    const known = await findCaller(database, sight);
    if (known) return known;
    const met = await database.write((transaction) =>
      meetCaller(transaction, sight, database.now()),
    );
    for (const { kind, detail } of met.events) {
      if (isAudited(kind)) audit.emit(kind, context, detail ?? {});
    }
    if (met.events.some(({ kind }) => kind === 'caller_merged')) await onMerge?.();
    return met;
  }
}

function isAudited(kind: string): kind is 'caller_linked' | 'caller_merged' {
  return kind === 'caller_linked' || kind === 'caller_merged';
}
