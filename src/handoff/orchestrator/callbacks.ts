/**
 * Callbacks of workers to the orchestrator: begin, heartbeat and result. Those that arrive together
 * are one transaction, with their requests locked (`callback-commit.ts`). A late or duplicate
 * callback, or one of a replaced worker, changes nothing and gets a 200 that says so: an error
 * would only cause a retry.
 */
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { failpoint } from '../../observe/failpoint.ts';
import { CommitGroup } from '../../store/driver/commit-group.ts';
import type { Database } from '../../store/driver/database.ts';
import type { Json, WireFailure } from '../request.ts';
import { type ReadResult, readResult } from '../result.ts';
import type { HandoffBroker, WorkerName } from './broker.ts';
import { applyCalls, type Call, type End } from './callback-commit.ts';

export type Begun =
  | {
      readonly status: 'begun';
      readonly epoch: number;
      readonly kind: string;
      /** How many workers had it and returned it or died. */
      readonly releases?: number | undefined;
      readonly request: Json;
      readonly bytes?: Uint8Array | undefined;
    }
  /** Workers died on it: it must run alone, in a process that has been up for this long. */
  | { readonly status: 'alone'; readonly uptimeMs: number }
  | { readonly status: 'gone' };

export interface Beat {
  readonly handoff: string;
  readonly epoch: number;
  readonly progress?: { readonly done: number; readonly total: number } | undefined;
  /** The worker stops and returns the request. */
  readonly isLeaving?: boolean | undefined;
}

export interface Completion {
  readonly stage: Stage;
  /** Absent: the only unanswered request of the job in this stage. */
  readonly handoff?: string | undefined;
  readonly epoch?: number | undefined;
  readonly itemId?: number | undefined;
  readonly value?: Json | undefined;
  readonly bytes?: Uint8Array | undefined;
  readonly failure?: WireFailure | undefined;
}

export interface Completed {
  /**
   * The next status; for a failure `job_failed`, `document_failed` if the job has other documents,
   * `job_paused` or `retry_scheduled`; `already_advanced` for a late or duplicate callback.
   */
  readonly status: string;
}

/** The same client interface for workers in this process and over HTTP. */
export interface OrchestratorClient {
  begin(jobKey: string, handoff: string, worker: WorkerName, isAlone?: boolean): Promise<Begun>;
  /** False: the response is no longer needed. */
  beat(jobKey: string, beat: Beat): Promise<boolean>;
  complete(jobKey: string, completion: Completion): Promise<Completed>;
}

export interface CallbackOptions {
  readonly database: Database;
  readonly world: World;
  /** Absent if nothing is handed to other processes: then no request is ever open. */
  readonly broker?: HandoffBroker | undefined;
  /** Reads and validates results. */
  readonly read?: ReadResult | undefined;
}

export class Callbacks implements OrchestratorClient {
  readonly #options: CallbackOptions;
  readonly #commits: CommitGroup<Call, End>;

  constructor(options: CallbackOptions) {
    this.#options = options;
    const { database, world, broker, read = readResult } = options;
    const parts = {
      world,
      read,
      requestOf: (key: string) => broker?.requestOf(key),
      now: () => database.now(),
    };
    this.#commits = new CommitGroup<Call, End>({
      database,
      world,
      sizeMax: limits.handoff.commitBatchMax,
      keyOf: ({ handoff }) => handoff,
      apply: (transaction, calls) => applyCalls(transaction, calls, parts),
    });
  }

  async begin(
    jobKey: string,
    handoff: string,
    worker: WorkerName,
    isAlone = false,
  ): Promise<Begun> {
    const end = await this.#commits.add({ do: 'begin', jobKey, handoff, worker, isAlone });
    return end.did === 'begin' ? end.begun : { status: 'gone' };
  }

  async beat(jobKey: string, beat: Beat): Promise<boolean> {
    const { broker } = this.#options;
    const { handoff, progress } = beat;
    const end = await this.#commits.add({ do: 'beat', jobKey, handoff, beat });
    const isHeard = end.did === 'beat' && end.isHeard;
    if (isHeard && progress) broker?.progress(handoff, progress.done, progress.total);
    return isHeard;
  }

  async complete(jobKey: string, completion: Completion): Promise<Completed> {
    const { world, broker } = this.#options;
    const { handoff } = completion;
    const end = await this.#commits.add({ do: 'complete', jobKey, handoff, completion });
    if (end.did !== 'complete') return { status: 'already_advanced' };
    failpoint(world, 'handoff.after-answer');
    broker?.answer(end.key, end.reply);
    return { status: end.status };
  }
}
