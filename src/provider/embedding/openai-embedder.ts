/**
 * Any server with OpenAI's embeddings interface: OpenAI itself, vLLM, Ollama, TEI and others. The
 * operator configures the address, so private ones are allowed. The key is sent in the request
 * header and appears nowhere else: in no message, no event, no log.
 */
import { Pool } from 'undici';
import { readBoundedText } from '../../concurrency/bounded.ts';
import { Failure, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { originOf } from '../../kernel/name/origin.ts';
import { Collector, type EmbeddingResult } from '../collector.ts';
import { readAnswer } from '../completion/openai-answer.ts';
import type { Asker } from '../openai-refusal.ts';
import { type OpenaiServer, refusedBy, settled } from '../openai-server.ts';
import { costOf, priceOf } from '../prices.ts';
import { Budget, type Pace } from '../rate-limit.ts';
import type { Embedder } from './embedding.ts';

export interface OpenaiOptions extends OpenaiServer {
  /** Requested from models that can shorten their vectors. */
  readonly dimensions?: number | undefined;
  /** In cents per million tokens; that of the price table if absent. */
  readonly centsPerMillionTokens?: number | undefined;
  readonly requestMs?: number | undefined;
}

export function openaiEmbedder(options: OpenaiOptions): Embedder {
  const { model, dimensions } = options;
  const price = options.centsPerMillionTokens ?? priceOf(model)?.input;
  const server = new Server(options);
  const collector = new Collector({ world: options.world, send: server.send });
  return {
    model: dimensions === undefined ? model : `${model}@${dimensions}`,
    meter: { centsPerMillionTokens: price },
    origin: originOf(options.url, options.isNamed ?? true),
    pace: () => server.pace(),
    async embed(texts, signal, keep) {
      const { vectors, tokensPaid } = await collector.ask(texts, signal, keep);
      const costCents = costOf({ input: tokensPaid }, { input: price ?? 0, output: 0 });
      return { vectors, tokensIn: tokensPaid, costCents };
    },
    async close() {
      await settled(options.world, collector.idle());
      await server.close();
    },
  };
}

class Server {
  readonly #options: OpenaiOptions;
  readonly #budget: Budget;
  readonly #url: URL;
  readonly #pool: Pool;
  #dimensions: number | undefined;

  constructor(options: OpenaiOptions) {
    this.#options = options;
    this.#url = new URL(`${options.url.replace(/\/+$/, '')}/embeddings`);
    this.#budget = new Budget(this.#url.host, options.world, options.budget);
    this.#dimensions = options.dimensions;
    this.#pool = new Pool(this.#url.origin, {
      connections: limits.budget.concurrencyMax,
      connectTimeout: limits.fetch.connectMs,
      headersTimeout: options.requestMs ?? limits.budget.requestMs,
      bodyTimeout: options.requestMs ?? limits.budget.requestMs,
    });
  }

  pace(): Pace {
    return this.#budget.look();
  }

  /** Sends one request within the rate limit, or fails with the time to wait. */
  readonly send = async (texts: readonly string[], tokens: number): Promise<EmbeddingResult> => {
    this.#budget.take(tokens);
    const { model, key, world } = this.#options;
    const { status, headers, body } = await this.#request(texts);
    if (status === 200) {
      const answer = readAnswer(body, {
        model,
        count: texts.length,
        dimensions: this.#dimensions,
      });
      this.#dimensions = answer.dimensions;
      return answer;
    }
    const asker: Asker = { host: this.#url.host, model, key, texts, now: world.now() };
    throw refusedBy(this.#budget, { status, headers, body }, asker);
  };

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #request(texts: readonly string[]) {
    const { world, key, model, dimensions, requestMs = limits.budget.requestMs } = this.#options;
    const deadline = new AbortController();
    const cancel = world.setTimer(() => {
      const message = `${this.#url.host} took longer than ${requestMs} ms`;
      deadline.abort(new Failure('timeout_soft', message));
    }, requestMs);
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        method: 'POST',
        path: `${this.#url.pathname}${this.#url.search}`,
        signal: deadline.signal,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({
          model,
          input: texts,
          encoding_format: 'base64',
          ...(dimensions !== undefined && { dimensions }),
        }),
      });
      return { status: statusCode, headers, body: await readText(body) };
    } catch (error) {
      throw this.#unreached(error);
    } finally {
      cancel();
    }
  }

  /** A connection failure is blamed on the provider, unless its certificate is at fault. */
  #unreached(error: unknown): Failure {
    const failure = toFailure(error);
    const code = failure.code === 'internal_error' ? 'provider_unavailable' : failure.code;
    const message = `${this.#url.host} could not be asked: ${failure.message}`;
    return new Failure(code, message, { cause: error, context: { provider: this.#url.host } });
  }
}

function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const { answerBytesMax } = limits.budget;
  const message = `the answer is longer than ${answerBytesMax} bytes`;
  return readBoundedText(body, answerBytesMax, () => new Failure('step_output_invalid', message));
}
