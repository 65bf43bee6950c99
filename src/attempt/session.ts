/**
 * The attempt as people meet it: they stage sources, start, stop, resume, and are told what becomes
 * of it. The registry says what may be; this file does it, and reports back to the registry, which
 * has the last word on whether a result still counts.
 */
import type { BlobStore } from '../blob/blob.ts';
import { checkCorpusName } from '../engine/admission.ts';
import type { Commands } from '../engine/commands.ts';
import { type AttemptPhase, phaseTable } from '../kernel/attempt.ts';
import { Failure, toFailure } from '../kernel/failure.ts';
import type { World } from '../kernel/world.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/database.ts';
import { hasCorpus } from '../store/documents.ts';
import { Batch, type Work } from './batch.ts';
import type { CancellationFlags } from './cancellation.ts';
import { type CommitContext, commitText, isReady } from './commit.ts';
import { isUnread, type PhaseContext, parseSources, preflight, splitSources } from './phases.ts';
import type { AttemptRegistry } from './registry.ts';
import { type StagedSource, Staging } from './staging.ts';
import { idleState } from './state.ts';
import {
  type AttemptView,
  countsOf,
  type SourceView,
  viewOfAttempt,
  viewOfSource,
} from './view.ts';
import type { Workspaces } from './workspace.ts';

export interface SessionOptions extends Pick<PhaseContext, 'read' | 'parser' | 'cutter'> {
  readonly registry: AttemptRegistry;
  readonly flags: CancellationFlags;
  readonly workspaces: Workspaces;
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly commands: Pick<Commands, 'submitParsed'>;
  readonly world: World;
  readonly log: Log;
}

/** Told, not stored: who missed it asks for the present state. */
export type News =
  | { readonly kind: 'attempt'; readonly caller: string; readonly view: AttemptView }
  | { readonly kind: 'source'; readonly caller: string; readonly view: SourceView };

export type NewsListener = (news: News) => void;

/** What belongs to one attempt, from its start until the next one's. */
interface Run {
  readonly id: string;
  readonly caller: string;
  readonly corpus: string;
  readonly jobKey: string;
  readonly batch: Batch;
  isDraft: boolean;
  isCommitted: boolean;
  trouble: AttemptView['trouble'];
}

type WorkPhase = Exclude<AttemptPhase, 'not_started' | 'text_committed'>;

export class AttemptSession {
  readonly staging: Staging;
  readonly #options: SessionOptions;
  readonly #listeners = new Set<NewsListener>();
  #run: Run | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(options: SessionOptions) {
    const { workspaces, world, registry } = options;
    this.#options = options;
    this.staging = new Staging({ workspaces, world, isInUse: (id) => this.#isInUse(id) });
    registry.listen(() => this.#tellAttempt());
  }

  listen(listener: NewsListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  look(caller: string): AttemptView {
    const run = this.#run;
    const { state } = this.#options.registry;
    const isOwn = run === undefined || run.caller === caller;
    return viewOfAttempt(isOwn ? state : idleState, {
      corpus: isOwn ? (run?.corpus ?? null) : null,
      isDraft: isOwn && (run?.isDraft ?? false),
      counts: isOwn && run ? countsOf(run.batch.works) : null,
      jobKey: isOwn && run?.isCommitted ? run.jobKey : null,
      trouble: isOwn ? (run?.trouble ?? null) : null,
      isOccupied: !isOwn && this.#isOpen(),
    });
  }

  /** What is staged, with what the attempt has found out about it. */
  sources(caller: string): SourceView[] {
    return this.staging
      .list(caller)
      .map((staged) => viewOfSource(this.#run?.batch.workOf(staged.id) ?? { staged }));
  }

  /** Begins with all that the caller has staged. Answers at once. */
  async start(caller: string, corpus: string): Promise<AttemptView> {
    checkCorpusName(corpus);
    const { database, registry, workspaces, world } = this.#options;
    const isDraft = !(await hasCorpus(database, corpus));
    const staged = newestOf(this.staging.list(caller));
    if (staged.length === 0) throw new Failure('sources_empty', 'nothing is staged');
    this.#checkOwner(caller);
    const { attemptId: id } = registry.start();
    if (id === null) throw new Failure('internal_error', 'an attempt was started without an id');
    const onChange = (work: Work): void => this.#tellSource(caller, work);
    const batch = new Batch(workspaces.pathOf(id), staged, onChange);
    const made = { id, caller, corpus, jobKey: world.uuid(), batch };
    this.#run = { ...made, isDraft, isCommitted: false, trouble: null };
    this.#tellAttempt();
    this.#begin(this.#run);
    return this.look(caller);
  }

  /** Answers at once: `stopping`. What follows is told when it has come to rest. */
  stop(caller: string): AttemptView {
    this.#checkOwner(caller);
    this.#options.registry.stop();
    return this.look(caller);
  }

  resume(caller: string): AttemptView {
    this.#checkOwner(caller);
    this.#options.registry.resume();
    if (!this.#run) throw new Failure('internal_error', 'an attempt was resumed that never began');
    this.#run.trouble = null;
    this.#begin(this.#run);
    return this.look(caller);
  }

  /** Takes sources back. A paused attempt that has none left is given up. */
  async remove(caller: string, ids: readonly string[]): Promise<number> {
    const sources = this.staging.removable(caller, ids);
    // Before anything is awaited: nobody may resume with a source that is on its way out.
    if (this.#options.registry.state.status === 'paused') this.#takeOut(sources);
    await this.staging.drop(sources);
    return sources.length;
  }

  /** Resolves when nothing is under way, and what was cleared away is gone. */
  async settled(): Promise<void> {
    await this.#working;
    await this.#options.workspaces.settled();
  }

  /**
   * The application ends: whatever is open is discarded, and nothing more is committed. To be
   * called before the store is closed.
   */
  async close(): Promise<void> {
    this.#options.registry.closeApp();
    await this.settled();
    this.staging.abandon();
  }

  #begin(run: Run): void {
    this.#working = this.#work(run).catch((error) => {
      this.#options.log.error(`attempt: the run has broken off (${toFailure(error).code})`);
    });
  }

  async #work(run: Run): Promise<void> {
    const { registry } = this.#options;
    try {
      for (const phase of phasesFrom(registry.state.phase, run.batch)) {
        if (registry.state.phase !== phase) registry.setPhase(run.id, phase);
        await this.#phase(run, phase);
      }
    } catch (error) {
      if (!registry.isClosed) this.#breakOff(run, error);
      return;
    }
    if (!registry.isClosed) await this.#finish(run);
  }

  #phase(run: Run, phase: WorkPhase): Promise<unknown> {
    const context = this.#contextOf(run);
    const work: Readonly<Record<WorkPhase, () => Promise<unknown>>> = {
      preflight: () => preflight(context),
      parsing: () => parseSources(context),
      splitting: () => splitSources(context),
      atomic_text_commit: async () => {
        const documents = await commitText(context);
        if (documents === 0) return;
        run.isCommitted = true;
        run.isDraft = false;
      },
    };
    context.signal.throwIfAborted();
    return work[phase]();
  }

  #contextOf({ id, caller, corpus, batch, jobKey }: Run): CommitContext {
    const { database, flags, registry } = this.#options;
    const check = (): void => {
      if (registry.mayCommit(id)) return;
      throw new Failure('canceled', 'the attempt was stopped before its text was committed');
    };
    return {
      ...this.#options,
      ...{ batch, caller, corpus, jobKey, check },
      staging: this.staging,
      reader: database,
      signal: flags.signal(id),
    };
  }

  /** All phases are done. A stop that came in the meantime has nothing left to stop. */
  async #finish(run: Run): Promise<void> {
    const { registry } = this.#options;
    const isDone = (work: Work): boolean => isReady(work) || work.plan?.do === 'skip';
    const { works } = run.batch;
    if (!works.some(isDone)) {
      this.#giveUp(run);
      return;
    }
    if (run.isCommitted && registry.state.status === 'running') {
      registry.setPhase(run.id, 'text_committed');
    }
    await this.#dropStaged(works.filter(isDone));
    if (registry.isClosed) return;
    if (registry.state.status === 'running') registry.complete(run.id);
    else registry.finishCancellation(run.id, false);
  }

  #takeOut(sources: readonly StagedSource[]): void {
    const run = this.#run;
    if (!run) return;
    for (const { id } of sources) run.batch.forget(id);
    if (run.batch.works.length > 0) return;
    this.#options.registry.resume();
    this.#giveUp(run);
  }

  /** What is stored, or was there before, need not be staged any more. */
  async #dropStaged(works: readonly Work[]): Promise<void> {
    await this.staging.drop(works.map(({ staged }) => staged)).catch((error) => {
      this.#options.log.error(`attempt: a staged file was left behind (${toFailure(error).code})`);
    });
  }

  /** Nothing is left to be worked on. */
  #giveUp(run: Run): void {
    this.#options.registry.stop();
    this.#options.registry.finishCancellation(run.id, false);
  }

  /** The run was stopped, or could not go on. Either way it can be resumed where it is. */
  #breakOff(run: Run, error: unknown): void {
    const { registry, log } = this.#options;
    if (registry.state.status === 'running') {
      const { code, message } = toFailure(error);
      log.error(`attempt: the run cannot go on in ${registry.state.phase} (${code})`);
      run.trouble = { code, message };
      registry.stop();
    }
    registry.finishCancellation(run.id, true);
  }

  #isOpen(): boolean {
    return !['idle', 'complete'].includes(this.#options.registry.state.status);
  }

  #isInUse(id: string): boolean {
    const { status } = this.#options.registry.state;
    const isAtWork = status === 'running' || status === 'stopping';
    return isAtWork && (this.#run?.batch.has(id) ?? false);
  }

  #checkOwner(caller: string): void {
    if (this.#run === undefined || this.#run.caller === caller || !this.#isOpen()) return;
    throw new Failure('action_not_allowed', 'the attempt of another caller is under way');
  }

  #tellAttempt(): void {
    const { attemptId } = this.#options.registry.state;
    // The start of an attempt is told when it is known whose it is and what it is about.
    if (!this.#run || (attemptId !== null && attemptId !== this.#run.id)) return;
    const { caller } = this.#run;
    this.#tell({ kind: 'attempt', caller, view: this.look(caller) });
  }

  #tellSource(caller: string, work: Work): void {
    this.#tell({ kind: 'source', caller, view: viewOfSource(work) });
  }

  #tell(news: News): void {
    for (const listener of this.#listeners) listener(news);
  }
}

/**
 * The phases that are still to be done, from the one that the attempt is in; or from parsing, where
 * a source has come to be read after all because the one that it repeats was taken back.
 */
function phasesFrom(phase: AttemptPhase, batch: Batch): readonly WorkPhase[] {
  const names = phaseTable.map((row) => row.phase);
  const isWork = (name: AttemptPhase): name is WorkPhase =>
    name !== 'not_started' && name !== 'text_committed';
  const reached = names.indexOf(phase);
  const first = batch.works.some(isUnread) ? names.indexOf('parsing') : reached;
  return names.slice(Math.min(reached, first)).filter(isWork);
}

/** Of sources with one name, the one that came last. */
function newestOf(staged: readonly StagedSource[]): StagedSource[] {
  const bySource = new Map(staged.map((source) => [source.source, source]));
  return [...bySource.values()];
}
