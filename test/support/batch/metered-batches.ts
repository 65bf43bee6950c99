/** A batch provider with costs, in memory: it counts its requests. */
import type {
  BatchProvider,
  BatchRequest,
  NewBatchJob,
  PollAnswer,
  ResultLine,
} from '../../../src/provider/batch/batch-provider.ts';
import { fakeTokens, fakeVector } from '../openai-server.ts';

/** Of every response to a request; a vector has none. */
export const answerTokens = 10;

export class MeteredBatches {
  /** The text of every answered request, each time. */
  readonly answered: string[] = [];
  /** Why a request is not answered; undefined: it is. */
  refusal: (request: BatchRequest) => string | undefined = () => undefined;
  /** The response to a request of a completion task. */
  content: (request: BatchRequest) => string = () => '{"entities":[]}';
  /** The vector for an embedding task. */
  vector: (text: string) => readonly number[] = (text) => [...fakeVector(text)];
  /** Jobs are running, and stay so. */
  isBusy = false;
  /** So are those of this type. */
  slowType: string | undefined;
  readonly #jobs = new Map<string, { taskType: string; requests: readonly BatchRequest[] }>();
  readonly #names = new Map<string, string>();

  get provider(): BatchProvider {
    return {
      name: 'METERED',
      taskTypes: ['completion', 'embedding'],
      split: 'together',
      merge: 'flat',
      models: /^metered/,
      recognizedBy: 'list',
      find: async ({ token }) => this.#names.get(token),
      submit: (job) => this.#begin(job),
      poll: async ({ externalId }) => this.#poll(externalId),
      cancel: async () => true,
    };
  }

  get jobs(): number {
    return this.#jobs.size;
  }

  async #begin({ taskType, token, requests }: NewBatchJob): Promise<string> {
    const asked: BatchRequest[] = [];
    for await (const request of requests()) asked.push(request);
    // Only now: several jobs are started concurrently.
    const id = `job-${this.#jobs.size + 1}`;
    this.#jobs.set(id, { taskType, requests: asked });
    this.#names.set(token, id);
    return id;
  }

  #poll(id: string): PollAnswer {
    const job = this.#jobs.get(id);
    if (!job) return { said: 'gone' };
    if (this.isBusy || job.taskType === this.slowType) return { said: 'running' };
    return { said: 'completed', results: () => this.#results(job.taskType, job.requests) };
  }

  async *#results(
    taskType: string,
    requests: readonly BatchRequest[],
  ): AsyncGenerator<ResultLine, void> {
    for (const request of requests) {
      const { custom_id: id, input } = request;
      const error = this.refusal(request);
      if (error !== undefined) {
        yield { id, isOk: false, error, isRetryable: false };
        continue;
      }
      this.answered.push(input);
      const tokensIn = fakeTokens(input);
      const isVector = taskType === 'embedding';
      const value = isVector
        ? { vector: [...this.vector(input)] }
        : { text: this.content(request) };
      yield { id, isOk: true, value, tokensIn, tokensOut: isVector ? 0 : answerTokens };
    }
  }
}
