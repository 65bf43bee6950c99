/**
 * The batch lane of the simulated world: a provider that answers in its own time, refuses some
 * lines and loses others, and the loops of a process that gather, send and poll. Every response of
 * the provider costs one token.
 */
import { createHash } from 'node:crypto';
import type { BlobStore } from '../../src/blob/blob.ts';
import { bankLeft } from '../../src/engine/batch/bank.ts';
import { gatherLines, settleEnded } from '../../src/engine/batch/lane.ts';
import { BatchProviders } from '../../src/engine/batch/plan.ts';
import type { DocumentLane } from '../../src/pipeline/document.ts';
import type {
  BatchProvider,
  BatchRequest,
  NewBatchJob,
  PollAnswer,
  ResultLine,
} from '../../src/provider/batch/batch-provider.ts';
import { reconcile, submitDue } from '../support/batch/rounds.ts';
import type { SimulatedProcess } from './process.ts';
import type { Random } from './random.ts';
import { nobody, type Schedule } from './schedule.ts';

const jobMsMax = 90_000;
const callMsMax = 2_000;
const gatherMs = 2_000;
const pollIntervalMs = 5_000;

/** The sums of these prices are exact. */
export const simulatedLane: DocumentLane = {
  embeddings: {
    model: 'simulated',
    price: { input: 250_000, output: 0 },
    encode: (vector) => Uint8Array.from(vector),
  },
};

type Fate = 'answered' | 'refused' | 'lost';

interface Job {
  readonly endsAt: number;
  readonly lines: readonly { readonly request: BatchRequest; readonly fate: Fate }[];
}

const fates: readonly Fate[] = [...Array<Fate>(10).fill('answered'), 'refused', 'lost'];

export class SimulatedBatches {
  readonly #random: Random;
  readonly #schedule: Schedule;
  readonly #jobs = new Map<string, Job>();
  readonly #tokens = new Map<string, string>();
  readonly #blobs = new Map<string, Uint8Array>();

  constructor(random: Random, schedule: Schedule) {
    this.#random = random;
    this.#schedule = schedule;
  }

  blobsOf(process: SimulatedProcess): BlobStore {
    return {
      put: (bytes) => {
        const key = createHash('sha256').update(bytes).digest('hex');
        if (!process.isDead) this.#blobs.set(key, bytes);
        return process.answer(Promise.resolve(key));
      },
      get: (key) => process.answer(Promise.resolve(this.#blobs.get(key) ?? new Uint8Array())),
    };
  }

  /** Until the process dies: the loops of another continue its work. */
  run(process: SimulatedProcess): void {
    const { database, world, setting } = process;
    const options = {
      ...{ database, world, pollIntervalMs, gatherMs, onEnd: settleEnded },
      blobs: this.blobsOf(process),
      providers: new BatchProviders([this.#providerOf(process)]),
      onError: (what: string, error: unknown) =>
        setting.recorder.tell(() => `${process.name} ${what}: ${error}`),
    };
    const { signal } = new AbortController();
    const { banks } = setting.pipelineOf(process);
    const loops = [
      () => bankLeft({ ...options, banks }, signal),
      () => gatherLines(options),
      () => submitDue(options, signal),
      () => reconcile(options, signal),
    ];
    for (const loop of loops) this.#again(process, loop);
  }

  #again(process: SimulatedProcess, loop: () => Promise<unknown>): void {
    this.#schedule.push(process, this.#random.whole(1, pollIntervalMs), () => {
      // An error of a loop is reported, and the loop continues.
      void loop()
        .catch(() => undefined)
        .then(() => this.#again(process, loop));
    });
  }

  #providerOf(process: SimulatedProcess): BatchProvider {
    const hear = <T>(work: () => T): Promise<T> => process.answer(this.#call(work));
    return {
      name: 'SIMULATED',
      taskTypes: ['embedding'],
      split: 'together',
      merge: 'flat',
      models: /^simulated$/,
      recognizedBy: 'list',
      find: ({ token }) => hear(() => this.#tokens.get(token)),
      submit: async (job) => {
        const requests = await readAll(job);
        return hear(() => this.#begin(job, requests));
      },
      poll: ({ externalId }) => hear(() => this.#answer(externalId)),
      cancel: () => hear(() => true),
    };
  }

  /** A request on its way is carried out, even if nothing waits for the response any more. */
  #call<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.#schedule.push(nobody, this.#random.whole(1, callMsMax), () => resolve(work()));
    });
  }

  #begin({ token }: NewBatchJob, requests: readonly BatchRequest[]): string {
    const id = this.#random.uuid();
    this.#jobs.set(id, {
      endsAt: this.#schedule.now + this.#random.whole(1, jobMsMax),
      lines: requests.map((request) => ({ request, fate: this.#random.pick(fates) })),
    });
    this.#tokens.set(token, id);
    return id;
  }

  #answer(id: string): PollAnswer {
    const job = this.#jobs.get(id);
    if (!job) return { said: 'gone' };
    if (this.#schedule.now < job.endsAt) return { said: 'running' };
    return { said: 'completed', results: () => resultsOf(job) };
  }
}

async function readAll({ requests }: NewBatchJob): Promise<BatchRequest[]> {
  const all: BatchRequest[] = [];
  for await (const request of requests()) all.push(request);
  return all;
}

async function* resultsOf({ lines }: Job): AsyncGenerator<ResultLine, void> {
  for (const { request, fate } of lines) {
    const { custom_id: id, input } = request;
    if (fate === 'refused') yield { id, isOk: false, error: 'blocked', isRetryable: false };
    if (fate === 'answered') {
      yield { id, isOk: true, value: { vector: [input.length & 0xff] }, tokensIn: 1 };
    }
  }
}
