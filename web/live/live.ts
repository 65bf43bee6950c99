/**
 * One event stream for the whole page. Events only say what has changed; the page then reads the
 * current state again, so a repeated or missed event does no harm. The stream resumes after the
 * last received event.
 */
import type { QueryClient } from '@tanstack/react-query';
import type { AttemptNews, Client, Progress } from '../../src/client/http.ts';
import type { Event } from '../../src/contract/schema/schema.ts';
import { noteSourceMessage } from './attempt.ts';
import { type Changes, noChanges, noteEvent, noteItem } from './change.ts';
import { refreshItemLists } from './item-list.ts';
import { refreshJobLists } from './job-list.ts';
import { readAgain } from './read-again.ts';
import { refreshTaskLists } from './task-list.ts';

export interface LiveOptions {
  readonly client: () => Client;
  readonly queries: QueryClient;
  /** A failed stream is shown to the user and opened again. */
  readonly onError: (error: unknown) => void;
}

/** The pause between two refreshes, and before a failed stream is opened again. */
const restMs = 300;
const againMs = 1000;
const countMs = 2000;
/** A list with more pages than this is only refreshed when it is opened again. */
const pagesReadAnewMax = 2;

export class Live {
  readonly #options: LiveOptions;
  readonly #watchers = new Set<(progress: Progress) => void>();
  #changes: Changes = noChanges();
  #isFlushing = false;
  #after: number | undefined;
  #countedAt = 0;
  #stop: AbortController | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stop?.abort();
    const stop = new AbortController();
    this.#stop = stop;
    void this.#run(stop.signal);
  }

  stop(): void {
    this.#stop?.abort();
  }

  /** Called with progress within a step, which is not part of the history. */
  watch(watcher: (progress: Progress) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { client } = this.#options;
      try {
        await this.#begin(client());
        const onProgress = (progress: Progress): void => {
          for (const watcher of this.#watchers) watcher(progress);
        };
        const onAttempt = (news: AttemptNews): void => this.#hear(news);
        const after = this.#after;
        for await (const event of client().follow({ after, signal, onProgress, onAttempt })) {
          this.#see(event);
        }
      } catch (error) {
        this.#options.onError(error);
      }
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }

  /** Starts at the newest event. If the number is lower than before, it is another store. */
  async #begin(client: Client): Promise<void> {
    const { newest_seq } = await client.ask('GET /events', { query: { limit: 1 } });
    const isOther = this.#after !== undefined && newest_seq < this.#after;
    if (this.#after !== undefined && !isOther) return;
    this.#after = newest_seq;
    await readAgain(this.#options.queries);
  }

  #see(event: Event): void {
    this.#after = event.seq;
    noteEvent(this.#changes, event);
    if (!this.#isFlushing) void this.#flush();
  }

  #hear(news: AttemptNews): void {
    if (news.kind === 'attempt_source') noteSourceMessage(this.#options.queries, news.source);
    Object.assign(this.#changes, { isAny: true, attempt: true });
    if (!this.#isFlushing) void this.#flush();
  }

  /** One refresh at a time, so that frequent events never cancel a running refresh. */
  async #flush(): Promise<void> {
    this.#isFlushing = true;
    while (this.#changes.isAny) {
      const changes = this.#changes;
      this.#changes = noChanges();
      await this.#refresh(changes);
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    this.#isFlushing = false;
  }

  async #refresh(changes: Changes): Promise<void> {
    const { queries, client } = this.#options;
    const later = (jobId: string, itemId: number): void => {
      this.#changes.isAny = true;
      noteItem(this.#changes, jobId, itemId);
    };
    const keys = [
      ...[...changes.jobs].map((id) => ['job', id]),
      ...[...changes.items.values()].flatMap((ids) => [...ids].map((id) => ['item', id])),
      ...[...changes.tasks].map((id) => ['batch-task', id]),
      ...(changes.inbox ? [['inbox'], ['inbox-count']] : []),
      ...(changes.attempt ? [['attempt'], ['staging']] : []),
      ...(changes.sources ? [['sources']] : []),
    ];
    await Promise.allSettled([
      ...keys.map((queryKey) => readAgain(queries, { queryKey })),
      refreshJobLists(queries, client(), changes),
      refreshTaskLists(queries, client(), changes.tasks),
      refreshItemLists({ queries, client: client(), later }, changes),
      this.#refreshDocuments(changes),
    ]);
  }

  /** Counting a corpus is expensive, so it is throttled while documents arrive. */
  async #refreshDocuments({ documents, documentIds }: Changes): Promise<void> {
    if (!documents) return;
    const { queries } = this.#options;
    if (Date.now() - this.#countedAt < countMs) {
      Object.assign(this.#changes, { isAny: true, documents: true });
      for (const id of documentIds) this.#changes.documentIds.add(id);
      return;
    }
    const isShort = ({ state }: { state: { data: unknown } }): boolean =>
      ((state.data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) <= pagesReadAnewMax;
    await Promise.allSettled([
      readAgain(queries, { queryKey: ['corpora'] }),
      readAgain(queries, { queryKey: ['search'] }),
      readAgain(queries, { queryKey: ['documents'], predicate: isShort }),
      ...[...documentIds].map((id) =>
        readAgain(queries, { queryKey: ['document', id], exact: true }),
      ),
    ]);
    this.#countedAt = Date.now();
  }
}
