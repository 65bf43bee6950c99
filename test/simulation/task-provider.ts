/**
 * A provider of the simulated world. It outlives every process, and behaves like real ones: it may
 * carry out a request and lose its response, limit the rate, fail for a while, be slow, or return a
 * part of the results. It counts the jobs it started, by token.
 */
import { Failure } from '../../src/kernel/failure/failure.ts';
import type {
  BatchProvider,
  NewBatchJob,
  PollAnswer,
  ResultLine,
} from '../../src/provider/batch/batch-provider.ts';
import type { Random } from './random.ts';
import { nobody, type Schedule } from './schedule.ts';

export interface TruthJob {
  readonly id: string;
  readonly token: string;
  readonly sources: readonly string[];
  readonly endsAt: number;
  readonly end: 'completed' | 'failed' | 'expired';
  readonly failing: ReadonlySet<string>;
  isCanceled: boolean;
}

export interface Trouble {
  /** The probability that a call fails. */
  rate: number;
}

/** Less than the timeout of a call. */
const slowMsMax = 50_000;

export class TruthProvider {
  readonly jobs = new Map<string, TruthJob>();
  readonly begun = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #random: Random;
  readonly #schedule: Schedule;
  readonly #trouble: Trouble;

  constructor(random: Random, schedule: Schedule, trouble: Trouble) {
    this.#random = random;
    this.#schedule = schedule;
    this.#trouble = trouble;
  }

  /** The provider as a process sees it; `hear` never resolves for dead processes. */
  adapter(
    recognizedBy: BatchProvider['recognizedBy'],
    hear: <T>(answer: Promise<T>) => Promise<T>,
  ): BatchProvider {
    const isSplit = recognizedBy === 'token';
    return {
      name: recognizedBy.toUpperCase(),
      taskTypes: ['transcription'],
      split: isSplit ? 'source' : 'together',
      merge: 'flat',
      recognizedBy,
      find: (job, { notes }) => hear(this.#call(() => this.#find(recognizedBy, job, notes.job_id))),
      submit: async (job, { notes, note }) => {
        if (recognizedBy !== 'note') {
          return hear(this.#call(() => this.#begin(job, isSplit ? job.token : undefined)));
        }
        let id = notes.job_id;
        if (id === undefined) {
          id = await hear(this.#call(() => this.#random.uuid()));
          await note('job_id', id);
        }
        const made = id;
        return hear(this.#call(() => this.#begin(job, made)));
      },
      poll: ({ externalId }) => hear(this.#poll(externalId)),
      cancel: ({ externalId }) =>
        hear(
          this.#call(() => {
            const job = this.jobs.get(externalId);
            if (job) job.isCanceled = true;
            return true;
          }),
        ),
    };
  }

  #find(
    recognizedBy: BatchProvider['recognizedBy'],
    { token }: NewBatchJob,
    noted: string | undefined,
  ): string | undefined {
    if (recognizedBy === 'none') return undefined;
    if (recognizedBy === 'note')
      return noted !== undefined && this.jobs.has(noted) ? noted : undefined;
    return this.#names.get(token);
  }

  /** With an id of the client, a repeated request starts nothing. */
  #begin({ token, sources }: NewBatchJob, own: string | undefined): string {
    if (own !== undefined && this.jobs.has(own)) return own;
    const id = own ?? this.#random.uuid();
    this.begun.set(token, (this.begun.get(token) ?? 0) + 1);
    const failing = sources.filter(() => this.#random.chance(0.1));
    this.jobs.set(id, {
      id,
      token,
      sources,
      endsAt: this.#schedule.now + this.#random.whole(1, 1_800_000),
      end: this.#random.pick(['completed', 'completed', 'completed', 'failed', 'expired']),
      failing: new Set(failing),
      isCanceled: false,
    });
    this.#names.set(token, id);
    return id;
  }

  async #poll(id: string): Promise<PollAnswer> {
    try {
      return await this.#call(() => this.#answer(id));
    } catch (error) {
      const { code, retryAfterMs } = error as Failure;
      return { said: code === 'rate_limited' ? 'limited' : 'unreachable', retryAfterMs };
    }
  }

  #answer(id: string): PollAnswer {
    const job = this.jobs.get(id);
    if (!job) return { said: 'gone' };
    if (job.isCanceled) return { said: 'canceled' };
    if (this.#schedule.now < job.endsAt) return { said: 'running' };
    return { said: job.end, results: () => this.#results(job) };
  }

  async *#results({ sources, failing }: TruthJob): AsyncGenerator<ResultLine, void> {
    const lines = sources.map((source): ResultLine => {
      if (!failing.has(source)) return { id: source, isOk: true, value: { text: source } };
      return { id: source, isOk: false, error: 'bad audio', isRetryable: false };
    });
    const foreign = { id: 'https://foreign.example/', isOk: true as const, value: {} };
    for (const line of lines.reverse()) {
      yield line;
      // Some lines come twice, and some are unknown.
      if (this.#random.chance(this.#trouble.rate)) yield line;
      if (this.#random.chance(this.#trouble.rate)) yield foreign;
    }
  }

  /** Carries out a request at some moment, and answers at a later one; or does not. */
  #call<T>(work: () => T): Promise<T> {
    const random = this.#random;
    const isTroubled = random.chance(this.#trouble.rate);
    const kind = isTroubled
      ? random.pick(['lost_before', 'lost_after', 'limited', 'slow'] as const)
      : 'well';
    const delayMs = kind === 'slow' ? random.whole(1, slowMsMax) : random.whole(1, 2_000);
    return new Promise((resolve, reject) => {
      this.#schedule.push(nobody, delayMs, () => {
        if (kind === 'limited') {
          const retryAfterMs = random.whole(1_000, 600_000);
          return reject(new Failure('rate_limited', 'too many requests', { retryAfterMs }));
        }
        const lost = new Failure('provider_unavailable', 'the connection broke');
        if (kind === 'lost_before') return reject(lost);
        const answer = work();
        if (kind === 'lost_after') return reject(lost);
        this.#schedule.push(nobody, random.whole(1, 1_000), () => resolve(answer));
      });
    });
  }
}
