/**
 * Any server with OpenAI's embeddings interface: OpenAI itself, vLLM, Ollama, TEI and others. The
 * operator configures the address, so private ones are allowed. The key is sent in the request
 * header and appears nowhere else: in no message, no event, no log.
 */
import type { Pool } from 'undici';
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
import type { Embedder, Embeddings } from './embedding.ts';
import type { ChosenPreset } from './preset/preset.ts';
import { openaiWire, type TextUse, type Wire } from './preset/wire.ts';

export interface OpenaiOptions extends OpenaiServer {
  /** Requested from models that can shorten their vectors. */
  readonly dimensions?: number | undefined;
  /** In cents per million tokens; that of the price table if absent. */
  readonly centsPerMillionTokens?: number | undefined;
  readonly requestMs?: number | undefined;
  /** The interface, if it is not OpenAI's; with the vendor's limits for one request. */
  readonly preset?: ChosenPreset | undefined;
}

export function openaiEmbedder(options: OpenaiOptions): Embedder {
  const { model, dimensions } = options;
  const price =
    options.centsPerMillionTokens ??
    options.preset?.preset.centsPerMillionTokens ??
    priceOf(model)?.input;
  const server = new Server(options);
  const { name, preset } = options.preset ?? {};
  const { inputsMax, tokensMax } = preset ?? {};
  const collectorFor = (use: TextUse) =>
    new Collector({
      world: options.world,
      send: (texts, tokens) => server.send(texts, tokens, use),
      ...(inputsMax !== undefined && { inputsMax }),
      ...(tokensMax !== undefined && { tokensMax }),
    });
  const collector = collectorFor('document');
  const queries = preset?.distinguishes ? collectorFor('query') : undefined;
  const paidBy = async (asked: ReturnType<Collector['ask']>): Promise<Embeddings> => {
    const { vectors, tokensPaid } = await asked;
    const costCents = costOf({ input: tokensPaid }, { input: price ?? 0, output: 0 });
    return { vectors, tokensIn: tokensPaid, costCents };
  };
  const sized = dimensions === undefined ? model : `${model}@${dimensions}`;
  return {
    // With the vendor: another interface or prompt gives other vectors of the same model.
    model: name === undefined ? sized : `${name}:${sized}`,
    meter: { centsPerMillionTokens: price },
    origin: originOf(options.url, options.isNamed ?? true),
    pace: () => server.pace(),
    embed: (texts, signal, keep) => paidBy(collector.ask(texts, signal, keep)),
    ...(queries && {
      embedQuery: (text: string, signal: AbortSignal) => paidBy(queries.ask([text], signal)),
    }),
    async close() {
      await settled(options.world, collector.idle());
      await server.close();
    },
  };
}

class Server {
  readonly #options: OpenaiOptions;
  readonly #wire: Wire;
  readonly #budget: Budget;
  readonly #url: URL;
  #pool: Promise<Pool> | undefined;
  #dimensions: number | undefined;

  constructor(options: OpenaiOptions) {
    this.#options = options;
    this.#wire = options.preset?.preset.wire ?? openaiWire;
    this.#url = new URL(`${options.url.replace(/\/+$/, '')}${this.#wire.path(options.model)}`);
    this.#budget = new Budget(this.#url.host, options.world, options.budget);
    this.#dimensions = options.dimensions;
  }

  pace(): Pace {
    return this.#budget.look();
  }

  /** Sends one request within the rate limit, or fails with the time to wait. */
  async send(texts: readonly string[], tokens: number, use: TextUse): Promise<EmbeddingResult> {
    this.#budget.take(tokens);
    const { model, key, world } = this.#options;
    const { status, headers, body } = await this.#request(texts, use);
    if (status === 200) {
      const expected = { model, count: texts.length, dimensions: this.#dimensions };
      const answer = readAnswer(body, expected, this.#wire.answer);
      this.#dimensions = answer.dimensions;
      return answer;
    }
    const asker: Asker = { host: this.#url.host, model, key, texts, now: world.now() };
    throw refusedBy(this.#budget, { status, headers, body }, asker);
  }

  async close(): Promise<void> {
    await (await this.#pool)?.destroy();
  }

  /** Loaded with the first request, so that it does not delay the start. */
  async #openPool(): Promise<Pool> {
    const { Pool: HttpPool } = await import('undici');
    const { requestMs = limits.budget.requestMs } = this.#options;
    return new HttpPool(this.#url.origin, {
      connections: limits.budget.concurrencyMax,
      connectTimeout: limits.fetch.connectMs,
      headersTimeout: requestMs,
      bodyTimeout: requestMs,
    });
  }

  async #request(texts: readonly string[], use: TextUse) {
    const { world, key, requestMs = limits.budget.requestMs } = this.#options;
    const deadline = new AbortController();
    const cancel = world.setTimer(() => {
      const message = `${this.#url.host} took longer than ${requestMs} ms`;
      deadline.abort(new Failure('timeout_soft', message));
    }, requestMs);
    try {
      this.#pool ??= this.#openPool();
      const pool = await this.#pool;
      const { statusCode, headers, body } = await pool.request({
        method: 'POST',
        path: `${this.#url.pathname}${this.#url.search}`,
        signal: deadline.signal,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(key !== undefined && this.#wire.headers(key)),
        },
        body: JSON.stringify(this.#bodyOf(texts, use)),
      });
      return { status: statusCode, headers, body: await readText(body) };
    } catch (error) {
      throw this.#unreached(error);
    } finally {
      cancel();
    }
  }

  #bodyOf(texts: readonly string[], use: TextUse): object {
    const { model, dimensions, preset } = this.#options;
    const prompt = preset?.preset.promptOf?.(model, use) ?? '';
    const sent = prompt === '' ? texts : texts.map((text) => `${prompt}${text}`);
    return this.#wire.body({ model, texts: sent, dimensions, use });
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
