/**
 * Merges many small requests into few large ones. Texts requested within a few milliseconds, by any
 * documents, go as one request; each caller gets its part of the response. A text that is already
 * in flight is not sent again: the first caller pays, the others share.
 *
 * A caller that no longer waits withdraws what was not sent yet. What was sent is paid for, so its
 * response is awaited and stored all the same.
 */
import { toFailure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { guessTokens, type Keep, type PaidVector } from './embedding/embedding.ts';

/** The result of a request: a vector per text, and the total tokens. */
export interface EmbeddingResult {
  readonly vectors: readonly Uint8Array[];
  /** Undefined if the server does not count. */
  readonly tokens: number | undefined;
}

export interface CollectorOptions {
  readonly world: World;
  readonly send: (texts: readonly string[], tokens: number) => Promise<EmbeddingResult>;
  readonly inputsMax?: number | undefined;
  readonly tokensMax?: number | undefined;
  readonly concurrencyMax?: number | undefined;
}

interface Answer {
  readonly vectors: readonly Uint8Array[];
  readonly tokensPaid: number;
}

/** One call of `ask`. Only the first of its ends counts. */
interface Call {
  readonly keep: Keep | undefined;
  readonly texts: readonly string[];
  readonly vectors: Map<string, Uint8Array>;
  tokensPaid: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** One requested text: the first of its calls pays. */
interface PendingText {
  readonly text: string;
  readonly tokens: number;
  readonly calls: Set<Call>;
}

interface Outcome {
  readonly kind: 'accepted' | 'failed' | 'refused';
  readonly error?: unknown;
}

export class Collector {
  readonly #options: Required<CollectorOptions>;
  /** All requested texts, sent or not. */
  readonly #pending = new Map<string, PendingText>();
  #queue: PendingText[] = [];
  #queuedTokens = 0;
  readonly #sending = new Set<Promise<void>>();
  #cancelTimer: (() => void) | undefined;
  #inputsMax: number;

  constructor(options: CollectorOptions) {
    this.#options = {
      inputsMax: limits.budget.requestInputsMax,
      tokensMax: limits.budget.requestTokensMax,
      concurrencyMax: limits.budget.concurrencyMax,
      ...options,
    } as Required<CollectorOptions>;
    this.#inputsMax = this.#options.inputsMax;
  }

  async ask(texts: readonly string[], signal: AbortSignal, keep?: Keep): Promise<Answer> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const call: Call = { keep, texts, vectors: new Map(), tokensPaid: 0, resolve, reject };
    const abort = (): void => this.#giveUp(call, signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    for (const text of new Set(texts)) this.#add(text, call);
    if (texts.length === 0) this.#finish(call);
    this.#pump();
    return promise.finally(() => signal.removeEventListener('abort', abort));
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    while (this.#sending.size > 0) await Promise.allSettled([...this.#sending]);
  }

  #add(text: string, call: Call): void {
    const known = this.#pending.get(text);
    if (known) {
      known.calls.add(call);
      return;
    }
    const pending: PendingText = { text, tokens: guessTokens(text), calls: new Set([call]) };
    this.#pending.set(text, pending);
    this.#queue.push(pending);
    this.#queuedTokens += pending.tokens;
  }

  #isFull(): boolean {
    return this.#queue.length >= this.#inputsMax || this.#queuedTokens >= this.#options.tokensMax;
  }

  /** Sends full batches at once, and the rest when the gathering time is over. */
  #pump(isDue = false): void {
    const { world, concurrencyMax } = this.#options;
    let mustSend = isDue;
    while (this.#queue.length > 0 && this.#sending.size < concurrencyMax) {
      if (!mustSend && !this.#isFull()) break;
      this.#begin(this.#takeBatch());
      mustSend = isDue;
    }
    if (this.#queue.length === 0 || this.#sending.size >= concurrencyMax) return;
    this.#cancelTimer ??= world.setTimer(() => {
      this.#cancelTimer = undefined;
      this.#pump(true);
    }, limits.budget.gatherMs);
  }

  #takeBatch(): PendingText[] {
    const { tokensMax } = this.#options;
    let tokens = 0;
    let count = 0;
    for (const pending of this.#queue) {
      if (count === this.#inputsMax || (count > 0 && tokens + pending.tokens > tokensMax)) break;
      tokens += pending.tokens;
      count += 1;
    }
    this.#queuedTokens -= tokens;
    return this.#queue.splice(0, count);
  }

  #begin(batch: readonly PendingText[]): void {
    const sending = this.#sendHalving(batch).finally(() => {
      this.#sending.delete(sending);
      // Texts that waited for a free slot have gathered long enough.
      this.#pump(true);
    });
    this.#sending.add(sending);
  }

  /**
   * Sends the batch. If the provider rejects the request itself, it is sent again in halves, until
   * the offending texts are alone. If no part was accepted by then, no text is at fault, and it
   * stops. If all parts of one size are refused, and all of the next are accepted, the server does
   * not take more texts than those.
   */
  async #sendHalving(batch: readonly PendingText[]): Promise<void> {
    let parts: (readonly PendingText[])[] = [batch];
    let isAnyAccepted = false;
    for (let level = 0; parts.length > 0; level++) {
      const refused: { part: readonly PendingText[]; error: unknown }[] = [];
      let accepted = 0;
      for (const part of parts) {
        const { kind, error } = await this.#sendPart(part);
        if (kind === 'refused') refused.push({ part, error });
        if (kind === 'accepted') accepted += 1;
      }
      const isTooMany = level > 0 && !isAnyAccepted && accepted === parts.length;
      if (isTooMany) this.#learnSize(parts);
      isAnyAccepted ||= refused.length < parts.length;
      parts = [];
      const isHopeless = !isAnyAccepted && level >= limits.budget.halvingsMax;
      for (const { part, error } of refused) {
        if (part.length > 1 && !isHopeless) parts.push(...halvesOf(part));
        else for (const pending of part) this.#fail(pending, error);
      }
    }
  }

  /** Few texts may have been refused for their length: then the next ones are shorter. */
  #learnSize(parts: readonly (readonly PendingText[])[]): void {
    const size = Math.max(...parts.map(({ length }) => length));
    if (size >= limits.budget.learnedInputsMin) this.#inputsMax = Math.min(size, this.#inputsMax);
  }

  /** `refused`: the request itself was at fault, and its texts still wait. */
  async #sendPart(part: readonly PendingText[]): Promise<Outcome> {
    const tokens = part.reduce((sum, asked) => sum + asked.tokens, 0);
    const texts = part.map(({ text }) => text);
    let answered: EmbeddingResult;
    try {
      answered = await this.#options.send(texts, tokens);
    } catch (error) {
      if (isRefusedInput(error)) return { kind: 'refused', error };
      for (const pending of part) this.#fail(pending, error);
      return { kind: 'failed' };
    }
    await this.#settle(part, answered);
    return { kind: 'accepted' };
  }

  async #settle(part: readonly PendingText[], { vectors, tokens }: EmbeddingResult): Promise<void> {
    const shares = sharesOf(
      part.map((pending) => pending.tokens),
      tokens,
    );
    const paidBy = new Map<Call, PaidVector[]>();
    part.forEach(({ text, calls }, index) => {
      const [payer] = calls;
      if (!payer) return;
      const paid = { text, vector: vectors[index] as Uint8Array, tokens: shares[index] as number };
      paidBy.set(payer, [...(paidBy.get(payer) ?? []), paid]);
    });
    await Promise.all([...paidBy].map(([payer, paid]) => this.#keep(payer, paid)));
  }

  /** First stored, then returned. A response that cannot be stored counts as missing. */
  async #keep(payer: Call, paid: readonly PaidVector[]): Promise<void> {
    try {
      await payer.keep?.(paid);
    } catch (error) {
      for (const { text } of paid) this.#fail(this.#pending.get(text), error);
      return;
    }
    for (const { text, vector, tokens } of paid) {
      payer.tokensPaid += tokens;
      const pending = this.#pending.get(text);
      this.#pending.delete(text);
      for (const call of pending?.calls ?? []) {
        call.vectors.set(text, vector);
        this.#finish(call);
      }
    }
  }

  #finish(call: Call): void {
    const { vectors, texts } = call;
    if (vectors.size < new Set(texts).size) return;
    call.resolve({
      vectors: texts.map((text) => vectors.get(text) as Uint8Array),
      tokensPaid: call.tokensPaid,
    });
  }

  #fail(pending: PendingText | undefined, error: unknown): void {
    if (!pending) return;
    this.#pending.delete(pending.text);
    for (const call of pending.calls) call.reject(error);
  }

  /** Ends the call and withdraws its texts that were not sent and that nobody else needs. */
  #giveUp(call: Call, reason: unknown): void {
    call.reject(reason);
    const dropped = new Set<PendingText>();
    for (const pending of this.#queue) {
      pending.calls.delete(call);
      if (pending.calls.size > 0) continue;
      dropped.add(pending);
      this.#pending.delete(pending.text);
      this.#queuedTokens -= pending.tokens;
    }
    if (dropped.size > 0) this.#queue = this.#queue.filter((pending) => !dropped.has(pending));
  }
}

function isRefusedInput(error: unknown): boolean {
  const failure = toFailure(error);
  return failure.code === 'provider_bad_request' && failure.context.isInput === true;
}

function halvesOf<T>(part: readonly T[]): (readonly T[])[] {
  const middle = Math.ceil(part.length / 2);
  return [part.slice(0, middle), part.slice(middle)];
}

/** Distributes the server's token count over the texts, by their estimates, without remainder. */
export function sharesOf(guesses: readonly number[], total: number | undefined): number[] {
  const sum = guesses.reduce((all, guess) => all + guess, 0);
  if (total === undefined || sum === 0) return [...guesses];
  let guessed = 0;
  let shared = 0;
  return guesses.map((guess) => {
    guessed += guess;
    const upTo = Math.round((total * guessed) / sum);
    const share = upTo - shared;
    shared = upTo;
    return share;
  });
}
