/**
 * The single attempt of a caller, in memory only. Its moves are the table in
 * `kernel/lifecycle/attempt.ts`: each takes the next status from there.
 *
 * Every report carries the id of its attempt. A report of an older attempt, or one that the current
 * status does not allow, is logged and refused, and changes nothing: neither the state nor the flag
 * nor the workspace. All commands are synchronous, so no two of them can interleave.
 */

import { Failure, toFailure } from '../kernel/failure/failure.ts';
import {
  type AttemptEvent,
  type AttemptPhase,
  type AttemptStatus,
  attempt,
  attemptStatus,
  cancellationEvent,
  isRepeatedStop,
} from '../kernel/lifecycle/attempt.ts';
import { allowedActions, transition } from '../kernel/lifecycle/machine.ts';
import type { World } from '../kernel/world.ts';
import type { Log } from '../observe/log.ts';
import type { CancellationFlags } from './cancellation.ts';
import {
  type AttemptState,
  completeDetails,
  type Details,
  idleState,
  noDetails,
  startedDetails,
  withPhase,
} from './state.ts';

/** The scratch storage of attempts, as the registry uses it. */
export interface WorkspaceOwner {
  create(attemptId: string): void;
  has(attemptId: string): boolean;
  /**
   * Removes the storage: it is gone for callers at once, and its files are deleted as soon as
   * possible.
   */
  remove(attemptId: string): void;
  /** Forgets the storage and leaves its files to the next start. */
  abandon(attemptId: string): void;
}

export interface RegistryOptions {
  readonly flags: CancellationFlags;
  readonly workspaces: WorkspaceOwner;
  readonly world: Pick<World, 'uuid'>;
  /** Receives ids, statuses and phases, and no user content. */
  readonly log: Log;
}

export type StateListener = (state: AttemptState) => void;

export class AttemptRegistry {
  readonly #options: RegistryOptions;
  readonly #listeners = new Set<StateListener>();
  #state: AttemptState = idleState;
  #isClosed = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  get state(): AttemptState {
    return this.#state;
  }

  /** The application is closing: later reports do not count. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  listen(listener: StateListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * What a person may do now: all of it is accepted. A paused attempt without its files cannot be
   * resumed; a start discards it.
   */
  get actions(): AttemptEvent[] {
    if (this.#isClosed) return [];
    const { status } = this.#state;
    const discarded = this.isStranded ? transition(attempt, status, 'discard') : undefined;
    return allowedActions(attempt, discarded ?? status);
  }

  /** Paused, but its work or its files are gone: it can never be resumed. */
  get isStranded(): boolean {
    const { status, attemptId, stagedWorkRemaining } = this.#state;
    if (transition(attempt, status, 'resume') === undefined) return false;
    return !stagedWorkRemaining || !this.#options.workspaces.has(attemptId ?? '');
  }

  /** A new attempt, with a new id, a fresh flag and a workspace that exists before it runs. */
  start(): AttemptState {
    return this.#move('start', () => {
      const { flags, workspaces, world } = this.#options;
      const attemptId = world.uuid();
      workspaces.create(attemptId);
      flags.create(attemptId);
      return startedDetails(attemptId);
    });
  }

  /** Reports the progress of the running attempt. */
  setPhase(attemptId: string, phase: AttemptPhase): AttemptState {
    this.#checkCurrent('phase', attemptId);
    if (this.#state.status !== attemptStatus.running) {
      throw this.#refused(`the phase ${phase} was reported while ${this.#state.status}`);
    }
    return this.#become(`is in the phase ${phase}`, withPhase(this.#state, phase));
  }

  /** The flag is set before the status changes. A second request only gets the state back. */
  stop(): AttemptState {
    if (isRepeatedStop(this.#state.status, 'stop')) {
      this.#options.log.warn(`the attempt ${this.#state.attemptId} was asked to stop again`);
      return this.#state;
    }
    return this.#move('stop', () => {
      this.#options.flags.request(this.#idOf('stop'));
      return this.#state;
    });
  }

  /** All work has stopped. Only now is an attempt `paused`, if work remains. */
  finishCancellation(attemptId: string, stagedWorkRemains: boolean): AttemptState {
    this.#checkCurrent('cancellation', attemptId);
    return this.#move(cancellationEvent(stagedWorkRemains), () => {
      if (!stagedWorkRemains) this.#end(attemptId);
      this.#options.log.info(`the attempt ${attemptId} has finished its cancellation`);
      return stagedWorkRemains ? this.#state : noDetails;
    });
  }

  /** The same attempt continues, in the same phase and workspace. */
  resume(): AttemptState {
    this.#check('resume');
    if (this.isStranded) {
      const why = 'the files of the paused attempt are gone: start again with what is staged';
      throw this.#refused(`${why}, or remove it to discard the attempt`);
    }
    return this.#move('resume', () => {
      this.#options.flags.clear(this.#idOf('resume'));
      return this.#state;
    });
  }

  /** Discards a paused attempt that has nothing left to continue with. */
  discard(): AttemptState {
    return this.#move('discard', () => {
      this.#end(this.#idOf('discard'));
      return noDetails;
    });
  }

  complete(attemptId: string): AttemptState {
    this.#checkCurrent('completion', attemptId);
    return this.#move('complete', () => {
      this.#end(attemptId);
      return completeDetails(attemptId);
    });
  }

  /**
   * The application closes. An open attempt is neither completed nor paused: its flag stays set, so
   * that late reports are refused, and its files are left to the next start.
   */
  closeApp(): AttemptState {
    const isMoved =
      !this.#isClosed && transition(attempt, this.#state.status, 'app_close') !== undefined;
    // First: a cancellation that finishes from now on must not end in a pause.
    this.#isClosed = true;
    if (!isMoved) return this.#state;
    return this.#move('app_close', () => {
      const attemptId = this.#idOf('app_close');
      const { flags, workspaces } = this.#options;
      flags.request(attemptId);
      workspaces.abandon(attemptId);
      return this.#state;
    });
  }

  /** Whether results of this attempt may still be stored. */
  mayCommit(attemptId: string): boolean {
    const { status, attemptId: current } = this.#state;
    const isCurrent = status === attemptStatus.running && attemptId === current;
    return isCurrent && !this.#options.flags.isRequested(attemptId);
  }

  #end(attemptId: string): void {
    this.#options.workspaces.remove(attemptId);
    this.#options.flags.forget(attemptId);
  }

  /** The next status for the event; throws if it is refused. */
  #check(event: AttemptEvent): AttemptStatus {
    if (this.#isClosed && event !== 'app_close') {
      throw this.#refused(`${event} is not possible: the application is closing`);
    }
    const status = transition(attempt, this.#state.status, event);
    if (status !== undefined) return status;
    throw this.#refused(`${event} is not possible while the attempt is ${this.#state.status}`);
  }

  #checkCurrent(what: string, attemptId: string): void {
    if (attemptId === this.#state.attemptId) return;
    throw this.#refused(`a ${what} came from an attempt that is not the current one`);
  }

  #idOf(event: AttemptEvent): string {
    const { attemptId, status } = this.#state;
    if (attemptId !== null) return attemptId;
    throw new Failure('internal_error', `${event} while ${status}, but there is no attempt`);
  }

  #refused(why: string): Failure {
    this.#options.log.warn(`attempt: ${why}`);
    return new Failure('action_not_allowed', why);
  }

  /**
   * Makes one move of the table; `change` does its work and gives the rest of the state. An error
   * leaves the state unchanged, and is logged by its code: the message may contain a path.
   */
  #move(event: AttemptEvent, change: () => Details): AttemptState {
    const status = this.#check(event);
    const { status: from } = this.#state;
    try {
      const next = Object.freeze({ ...change(), status });
      return this.#become(`moved from ${from} to ${status} by ${event}`, next);
    } catch (error) {
      const { code } = toFailure(error);
      this.#options.log.error(`attempt: ${event} failed in ${from} (${code})`);
      throw error;
    }
  }

  #become(what: string, next: AttemptState): AttemptState {
    const attemptId = next.attemptId ?? this.#state.attemptId;
    this.#state = next;
    this.#options.log.info(`the attempt ${attemptId} ${what}`);
    for (const listener of this.#listeners) listener(next);
    return next;
  }
}
