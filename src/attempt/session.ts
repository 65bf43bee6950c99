/**
 * The attempts of this process, one per caller, and their staged sources. Callers neither see nor
 * block each other. The number of open attempts is limited: if all slots are taken, one that has
 * been paused for long is discarded, and its caller keeps the staged sources.
 */

import { checkCorpusName } from '../engine/command/admission.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { attemptStatus, isOpenAttempt, attempt as machine } from '../kernel/lifecycle/attempt.ts';
import { allowedActions } from '../kernel/lifecycle/machine.ts';
import { limits } from '../kernel/limits/limits.ts';
import { placeOf } from '../kernel/name/corpus-name.ts';
import { hasCorpus } from '../store/document/documents.ts';
import { CallerAttempt, type CallerAttemptOptions, type News } from './caller-attempt.ts';
import { AttemptRegistry } from './registry.ts';
import { Staging } from './staging/staging.ts';
import { idleState } from './state.ts';
import { type AttemptView, type SourceView, viewOfAttempt, viewOfSource } from './view.ts';

export type { News } from './caller-attempt.ts';

export type SessionOptions = Omit<CallerAttemptOptions, 'caller' | 'registry' | 'staging' | 'tell'>;

export type NewsListener = (news: News) => void;

export class AttemptSession {
  readonly staging: Staging;
  readonly #options: SessionOptions;
  readonly #listeners = new Set<NewsListener>();
  /** In the order of last use. */
  readonly #attempts = new Map<string, CallerAttempt>();
  #isClosed = false;

  constructor(options: SessionOptions) {
    const { workspaces, world } = options;
    this.#options = options;
    this.staging = new Staging({
      workspaces,
      world,
      isAtWorkOn: ({ caller, id }) => this.#attempts.get(caller)?.isAtWorkOn(id) ?? false,
      isInNeedOf: ({ caller, id }) => this.#attempts.get(caller)?.isInNeedOf(id) ?? false,
    });
  }

  listen(listener: NewsListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  look(caller: string): AttemptView {
    const own = this.#attempts.get(caller);
    if (own && isOpenAttempt(own.status)) return own.look();
    const isOccupied = !this.#hasPlace();
    const view = own?.look() ?? emptyView;
    return isOccupied || this.#isClosed ? { ...view, isOccupied, actions: [] } : view;
  }

  sources(caller: string): SourceView[] {
    const own = this.#attempts.get(caller);
    return own?.sources() ?? this.staging.list(caller).map((staged) => viewOfSource({ staged }));
  }

  /** Starts with everything the caller has staged for this corpus. Returns immediately. */
  async start(caller: string, corpus: string): Promise<AttemptView> {
    checkCorpusName(corpus);
    const isDraft = !(await hasCorpus(this.#options.database, placeOf({ caller, corpus }).corpus));
    // No await from here to its first status: another caller cannot take the slot meanwhile.
    return this.#take(caller).start(corpus, isDraft);
  }

  /** Returns `stopping` immediately. The next status is published when all work has stopped. */
  stop(caller: string): AttemptView {
    return this.#of(caller).stop();
  }

  resume(caller: string): AttemptView {
    return this.#of(caller).resume();
  }

  /** Removes staged sources. A paused attempt without remaining sources is discarded. */
  async remove(caller: string, ids: readonly string[]): Promise<number> {
    return this.#of(caller).remove(ids);
  }

  /** Two callers were merged: the staged sources and the attempt of the first go to the other. */
  adopt(from: string, to: string): void {
    this.staging.adopt(from, to);
    const moved = this.#attempts.get(from);
    moved?.adopt(to);
    const own = this.#attempts.get(to);
    // If the other caller has one open, this one ends in its own slot.
    if (!moved || (own && isOpenAttempt(own.status))) return;
    this.#attempts.delete(from);
    this.#attempts.set(to, moved);
  }

  /** Resolves when no work is running, and removed files are gone. */
  async settled(): Promise<void> {
    await Promise.all([...this.#attempts.values()].map((attempt) => attempt.settled()));
    await this.#options.workspaces.settled();
  }

  /**
   * The application closes: open attempts are discarded, and nothing more is committed. Must be
   * called before the store is closed.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const attempt of this.#attempts.values()) attempt.closeApp();
    await this.settled();
    this.staging.abandon();
  }

  /** The attempt of the caller; a missing one refuses like an idle one. */
  #of(caller: string): CallerAttempt {
    return this.#attempts.get(caller) ?? this.#make(caller);
  }

  /** The same, with a reserved slot. */
  #take(caller: string): CallerAttempt {
    const own = this.#of(caller);
    if (!isOpenAttempt(own.status)) this.#makePlace();
    this.#attempts.delete(caller);
    this.#attempts.set(caller, own);
    return own;
  }

  #make(caller: string): CallerAttempt {
    const { flags, workspaces, world, log } = this.#options;
    const registry = new AttemptRegistry({ flags, workspaces, world, log });
    const made = new CallerAttempt({
      ...this.#options,
      caller,
      registry,
      staging: this.staging,
      tell: (news) => this.#tell(news),
    });
    if (this.#isClosed) made.closeApp();
    return made;
  }

  #hasPlace(): boolean {
    const open = this.#opened();
    return open.length < limits.attempt.callersMax || open.some((each) => this.#isForgotten(each));
  }

  /** Forgets ended attempts, and discards long paused ones. */
  #makePlace(): void {
    for (const [caller, attempt] of this.#attempts) {
      if (this.#attempts.size < limits.attempt.callersMax) return;
      if (!isOpenAttempt(attempt.status)) this.#attempts.delete(caller);
    }
    const open = this.#opened();
    if (open.length < limits.attempt.callersMax) return;
    const [oldest] = open
      .filter((each) => this.#isForgotten(each))
      .sort((one, other) => one.movedAt - other.movedAt);
    if (oldest) {
      oldest.giveUp();
      return;
    }
    const message = `${limits.attempt.callersMax} callers have an open attempt, the maximum`;
    throw new Failure('action_not_allowed', `${message}: start again when one of them has ended`);
  }

  #opened(): CallerAttempt[] {
    return [...this.#attempts.values()].filter(({ status }) => isOpenAttempt(status));
  }

  #isForgotten({ status, movedAt }: CallerAttempt): boolean {
    const idleMs = this.#options.world.now() - movedAt;
    return status === attemptStatus.paused && idleMs >= limits.attempt.pausedMsMax;
  }

  #tell(news: News): void {
    for (const listener of this.#listeners) listener(news);
  }
}

const emptyView = viewOfAttempt(idleState, {
  actions: allowedActions(machine, machine.initial),
  corpus: null,
  isDraft: false,
  counts: null,
  jobKey: null,
  trouble: null,
  isOccupied: false,
});
