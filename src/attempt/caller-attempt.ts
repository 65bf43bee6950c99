/**
 * The attempt of one caller: start, stop, resume, discard. The registry decides what is allowed;
 * this file does it, and reports back to the registry, which decides whether a result still counts.
 */
import type { BlobStore } from '../blob/blob.ts';
import type { Commands } from '../engine/command/commands.ts';
import { Failure, toFailure } from '../kernel/failure/failure.ts';
import {
  type AttemptPhase,
  type AttemptStatus,
  attemptStatus,
  isOpenAttempt,
  phaseTable,
} from '../kernel/lifecycle/attempt.ts';
import { renamedFor } from '../kernel/name/corpus-name.ts';
import type { World } from '../kernel/world.ts';
import type { Log } from '../observe/log.ts';
import type { Database } from '../store/driver/database.ts';
import type { CancellationFlags } from './cancellation.ts';
import { type CommitContext, commitText, isReady } from './commit.ts';
import { isUnread, type PhaseContext, parseSources, preflight, splitSources } from './phases.ts';
import type { AttemptRegistry } from './registry.ts';
import { Batch, type Work } from './staging/item-batch.ts';
import type { StagedSource, Staging } from './staging/staging.ts';
import type { Workspaces } from './staging/workspace.ts';
import {
  type AttemptView,
  countsOf,
  type SourceView,
  viewOfAttempt,
  viewOfSource,
} from './view.ts';

export interface CallerAttemptOptions extends Pick<PhaseContext, 'read' | 'parser' | 'chunker'> {
  readonly caller: string;
  readonly registry: AttemptRegistry;
  readonly staging: Staging;
  readonly flags: CancellationFlags;
  readonly workspaces: Workspaces;
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly commands: Pick<Commands, 'submitParsed'>;
  readonly world: World;
  readonly log: Log;
  readonly tell: (news: News) => void;
}

/** Published, not stored: a client that missed an event reads the current state. */
export type News =
  | { readonly kind: 'attempt'; readonly caller: string; readonly view: AttemptView }
  | { readonly kind: 'source'; readonly caller: string; readonly view: SourceView };

/** State of one attempt, from its start until the next one's. */
interface Run {
  readonly id: string;
  corpus: string;
  readonly jobKey: string;
  readonly batch: Batch;
  isDraft: boolean;
  isCommitted: boolean;
  trouble: AttemptView['trouble'];
}

type WorkPhase = Exclude<AttemptPhase, 'not_started' | 'text_committed'>;

export class CallerAttempt {
  readonly #options: CallerAttemptOptions;
  #caller: string;
  #run: Run | undefined;
  #working: Promise<void> = Promise.resolve();
  /** When its status last changed. */
  #movedAt: number;

  constructor(options: CallerAttemptOptions) {
    this.#options = options;
    this.#caller = options.caller;
    this.#movedAt = options.world.now();
    options.registry.listen(() => {
      this.#movedAt = options.world.now();
      this.#tellAttempt();
    });
  }

  get status(): AttemptStatus {
    return this.#options.registry.state.status;
  }

  get movedAt(): number {
    return this.#movedAt;
  }

  look(): AttemptView {
    const run = this.#run;
    const { state, actions } = this.#options.registry;
    return viewOfAttempt(state, {
      actions,
      corpus: run?.corpus ?? null,
      isDraft: run?.isDraft ?? false,
      counts: run ? countsOf(run.batch.works) : null,
      jobKey: run?.isCommitted ? run.jobKey : null,
      trouble: run?.trouble ?? null,
      isOccupied: false,
    });
  }

  /** The staged sources, with the findings of the attempt. */
  sources(): SourceView[] {
    const { staging } = this.#options;
    return staging
      .list(this.#caller)
      .map((staged) => viewOfSource(this.#run?.batch.workOf(staged.id) ?? { staged }));
  }

  /** Starts with everything the caller has staged for this corpus. Returns immediately. */
  async start(corpus: string, isDraft: boolean): Promise<AttemptView> {
    const { staging, registry, workspaces, world } = this.#options;
    const meant = staging
      .list(this.#caller)
      .filter((source) => source.corpus === undefined || source.corpus === corpus);
    if (meant.length === 0) {
      throw new Failure('sources_empty', `nothing is staged for ${corpus}`);
    }
    if (registry.isStranded) this.giveUp();
    const { attemptId: id } = registry.start();
    const staged = staging.assign(meant, corpus);
    if (id === null) throw new Failure('internal_error', 'an attempt was started without an id');
    const newest = newestOf(staged);
    const onChange = (work: Work): void => this.#tellSource(work);
    const batch = new Batch(workspaces.pathOf(id), newest, onChange);
    const made = { id, corpus, jobKey: world.uuid(), batch };
    this.#run = { ...made, isDraft, isCommitted: false, trouble: null };
    this.#tellAttempt();
    this.#begin(this.#run);
    await this.#dropStaged(staged.filter((source) => !newest.includes(source)));
    return this.look();
  }

  /** The attempt now belongs to another caller. Running work keeps its slot. */
  adopt(to: string): void {
    const from = this.#caller;
    this.#caller = to;
    if (this.#run) this.#run.corpus = renamedFor(to, { caller: from, corpus: this.#run.corpus });
  }

  /** Returns `stopping` immediately. The next status is published when all work has stopped. */
  stop(): AttemptView {
    this.#options.registry.stop();
    return this.look();
  }

  resume(): AttemptView {
    this.#options.registry.resume();
    if (!this.#run) throw new Failure('internal_error', 'an attempt was resumed that never began');
    this.#run.trouble = null;
    this.#begin(this.#run);
    return this.look();
  }

  /** Removes staged sources. A paused attempt without remaining sources is discarded. */
  async remove(ids: readonly string[]): Promise<number> {
    const { staging } = this.#options;
    const sources = staging.removable(this.#caller, ids);
    // Before the first await: the attempt must not resume with a source that is being removed.
    if (this.status === attemptStatus.paused) this.#takeOut(sources);
    await staging.drop(sources);
    return sources.length;
  }

  /** A paused attempt ends without a result. Staged sources stay staged. */
  giveUp(): void {
    this.#options.registry.discard();
  }

  /** Resolves when no work is running. */
  settled(): Promise<void> {
    return this.#working;
  }

  closeApp(): void {
    this.#options.registry.closeApp();
  }

  /** Whether the attempt works on the source, so that it cannot be removed. */
  isAtWorkOn(id: string): boolean {
    const isAtWork =
      this.status === attemptStatus.running || this.status === attemptStatus.stopping;
    return isAtWork && this.isInNeedOf(id);
  }

  /** Whether the attempt works on the source, or would after a resume. */
  isInNeedOf(id: string): boolean {
    return isOpenAttempt(this.status) && (this.#run?.batch.has(id) ?? false);
  }

  #begin(run: Run): void {
    this.#working = this.#work(run).catch((error) => {
      this.#options.log.error(`attempt: the run ended unexpectedly (${toFailure(error).code})`);
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

  #contextOf({ id, corpus, batch, jobKey }: Run): CommitContext {
    const { database, flags, registry } = this.#options;
    const caller = this.#caller;
    const check = (): void => {
      if (registry.mayCommit(id)) return;
      throw new Failure('canceled', 'the attempt was stopped before its text was committed');
    };
    return {
      ...this.#options,
      batch,
      caller,
      corpus,
      jobKey,
      check,
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
      registry.stop();
      registry.finishCancellation(run.id, false);
      return;
    }
    if (run.isCommitted && registry.state.status === attemptStatus.running) {
      registry.setPhase(run.id, 'text_committed');
    }
    await this.#dropStaged(works.filter(isDone).map(({ staged }) => staged));
    if (registry.isClosed) return;
    if (registry.state.status === attemptStatus.running) registry.complete(run.id);
    else registry.finishCancellation(run.id, false);
  }

  /** Also for sources that are no longer staged: they cannot be processed. */
  #takeOut(sources: readonly StagedSource[]): void {
    const { staging } = this.#options;
    const run = this.#run;
    if (!run) return;
    const left = new Set(staging.list(this.#caller).map(({ id }) => id));
    for (const { id } of sources) left.delete(id);
    for (const { staged } of run.batch.works) if (!left.has(staged.id)) run.batch.forget(staged.id);
    if (run.batch.works.length === 0) this.giveUp();
  }

  /** Sources that are stored, known already or staged again need not stay staged. */
  async #dropStaged(sources: readonly StagedSource[]): Promise<void> {
    await this.#options.staging.drop(sources).catch((error) => {
      this.#options.log.error(
        `attempt: a staged file could not be removed (${toFailure(error).code})`,
      );
    });
  }

  /** The run was stopped or cannot continue. Either way it can be resumed. */
  #breakOff(run: Run, error: unknown): void {
    const { registry, log } = this.#options;
    if (registry.state.status === attemptStatus.running) {
      const { code, message } = toFailure(error);
      log.error(`attempt: the run cannot continue in ${registry.state.phase} (${code})`);
      run.trouble = { code, message };
      registry.stop();
    }
    registry.finishCancellation(run.id, true);
  }

  #tellAttempt(): void {
    const { attemptId } = this.#options.registry.state;
    // The start of an attempt is published once its caller and corpus are known.
    if (!this.#run || (attemptId !== null && attemptId !== this.#run.id)) return;
    this.#options.tell({ kind: 'attempt', caller: this.#caller, view: this.look() });
  }

  #tellSource(work: Work): void {
    this.#options.tell({ kind: 'source', caller: this.#caller, view: viewOfSource(work) });
  }
}

/**
 * The remaining phases, from the current one; or from parsing, if a duplicate source has to be read
 * because the source it repeats was removed.
 */
function phasesFrom(phase: AttemptPhase, batch: Batch): readonly WorkPhase[] {
  const names = phaseTable.map((row) => row.phase);
  const isWork = (name: AttemptPhase): name is WorkPhase =>
    name !== 'not_started' && name !== 'text_committed';
  const reached = names.indexOf(phase);
  const first = batch.works.some(isUnread) ? names.indexOf('parsing') : reached;
  return names.slice(Math.min(reached, first)).filter(isWork);
}

/** Of sources with the same name, the latest. */
function newestOf(staged: readonly StagedSource[]): StagedSource[] {
  const bySource = new Map(staged.map((source) => [source.source, source]));
  return [...bySource.values()];
}
