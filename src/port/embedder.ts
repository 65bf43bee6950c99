/**
 * An embedder that a user plugs in. The corpus records its `model`; a process that searches or
 * extends the corpus needs an embedder with the same one.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import {
  aFunction,
  aPrice,
  checkPort,
  type MemberChecks,
  orAbsent,
  wholeNumber,
} from '../kernel/port-check.ts';
import { pause, type World } from '../kernel/world.ts';
import { Collector } from '../provider/collector.ts';
import type { Embedder } from '../provider/embedding/embedding.ts';
import { toSignedBytes } from '../provider/embedding/vector-bytes.ts';
import { costOf } from '../provider/prices.ts';
import { callPort } from './port-call.ts';

export type Vector = readonly number[] | Float32Array | Float64Array;

export interface PortCall {
  /** Aborts when the call takes too long, or when Pawl is closed. */
  readonly signal: AbortSignal;
}

export interface EmbedderPort {
  /**
   * The model with everything that changes its vectors: vectors of one `model` can be compared.
   * Stored with each corpus.
   */
  readonly model: string;
  /** The length of each vector. */
  readonly dimensions: number;
  /** The most texts of one call of `embedDocuments`; 96 if absent. */
  readonly batchSize?: number | undefined;
  /** How many calls may run at the same time; 4 if absent. */
  readonly concurrency?: number | undefined;
  /** Cents per million tokens; 0 if it is free. If absent, the cost is shown as unknown. */
  readonly centsPerMillionTokens?: number | undefined;
  /** One vector for each text, in the order of the texts. */
  embedDocuments(texts: readonly string[], call: PortCall): Promise<readonly Vector[]>;
  embedQuery(text: string, call: PortCall): Promise<Vector>;
  close?(): Promise<void>;
}

export const dimensionsMax = 8192;

const checks: MemberChecks<EmbedderPort> = {
  model: [
    'a name of 1 to 200 characters without spaces',
    (value) => typeof value === 'string' && /^[^\s\p{Cc}]{1,200}$/u.test(value),
  ],
  dimensions: wholeNumber(1, dimensionsMax),
  batchSize: orAbsent(wholeNumber(1, limits.budget.requestInputsMax)),
  concurrency: orAbsent(wholeNumber(1, limits.budget.concurrencyMax)),
  centsPerMillionTokens: orAbsent(aPrice),
  embedDocuments: aFunction,
  embedQuery: aFunction,
  close: orAbsent(aFunction),
};

export function checkEmbedder(value: unknown): EmbedderPort {
  return checkPort(value, checks, { from: 'open({ embedder })', what: 'embedder' });
}

const concurrencyDefault = 4;

/** The texts of many documents are combined into few calls, and no text is computed twice. */
export function pluggedEmbedder(port: EmbedderPort, world: World): Embedder {
  const { model, centsPerMillionTokens } = port;
  const closing = new AbortController();
  const calls = new PortCalls(port, world, closing.signal);
  const collector = new Collector({
    world,
    send: async (texts) => ({ vectors: await calls.documents(texts), tokens: undefined }),
    inputsMax: port.batchSize ?? limits.budget.embeddingBatchMax,
    concurrencyMax: port.concurrency ?? concurrencyDefault,
  });
  return {
    model,
    meter: { centsPerMillionTokens },
    async embed(texts, signal, keep) {
      const { vectors, tokensPaid } = await collector.ask(texts, signal, keep);
      const price = { input: centsPerMillionTokens ?? 0, output: 0 };
      return { vectors, tokensIn: tokensPaid, costCents: costOf({ input: tokensPaid }, price) };
    },
    async embedQuery(text, signal) {
      return { vectors: [await calls.query(text, signal)], tokensIn: 0, costCents: 0 };
    },
    async close() {
      const grace = new AbortController();
      const late = pause(world, limits.loop.shutdownGraceMs, grace.signal);
      await Promise.race([collector.idle(), late]);
      grace.abort();
      closing.abort(new Failure('canceled', 'Pawl was closed'));
      await port.close?.();
    },
  };
}

/** Calls with a deadline and checked results. */
class PortCalls {
  readonly #port: EmbedderPort;
  readonly #world: World;
  readonly #closing: AbortSignal;

  constructor(port: EmbedderPort, world: World, closing: AbortSignal) {
    this.#port = port;
    this.#world = world;
    this.#closing = closing;
  }

  async documents(texts: readonly string[]): Promise<Uint8Array[]> {
    const vectors = await this.#call('embedDocuments', [this.#closing], (signal) =>
      this.#port.embedDocuments(texts, { signal }),
    );
    const count = Array.isArray(vectors) ? vectors.length : 0;
    if (count !== texts.length) {
      throw this.#wrong(`embedDocuments returned ${count} vectors for ${texts.length} texts`);
    }
    return vectors.map((vector) => this.#bytesOf(vector, 'embedDocuments'));
  }

  async query(text: string, asked: AbortSignal): Promise<Uint8Array> {
    const vector = await this.#call('embedQuery', [this.#closing, asked], (signal) =>
      this.#port.embedQuery(text, { signal }),
    );
    return this.#bytesOf(vector, 'embedQuery');
  }

  /** The deadline also ends a call whose code ignores its signal. */
  async #call<T>(
    name: string,
    signals: readonly AbortSignal[],
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { requestMs } = limits.budget;
    const deadline = new AbortController();
    const cancel = this.#world.setTimer(() => {
      const message = `${name} of ${this.#port.model} took longer than ${requestMs} ms`;
      deadline.abort(new Failure('timeout_soft', message));
    }, requestMs);
    const signal = AbortSignal.any([...signals, deadline.signal]);
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const called = callPort(`${name} of ${this.#port.model}`, () => run(signal), signal);
      return await Promise.race([called, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
      cancel();
    }
  }

  #bytesOf(vector: unknown, name: string): Uint8Array {
    const { dimensions } = this.#port;
    if (!isVector(vector))
      throw this.#wrong(`${name} returned a vector that is no list of numbers`);
    if (vector.length !== dimensions) {
      throw this.#wrong(`${name} returned a vector of length ${vector.length}, not ${dimensions}`);
    }
    if (!vector.every(Number.isFinite)) {
      throw this.#wrong(`${name} returned a vector with a value that is no finite number`);
    }
    return toSignedBytes(vector);
  }

  #wrong(what: string): Failure {
    return new Failure('step_output_invalid', `${this.#port.model}: ${what}`);
  }
}

function isVector(value: unknown): value is number[] {
  const isTyped = value instanceof Float32Array || value instanceof Float64Array;
  return isTyped || Array.isArray(value);
}
