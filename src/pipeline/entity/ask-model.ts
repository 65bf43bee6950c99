/**
 * Sends requests to a model, a few at a time; requests that were answered before come from the
 * paid-answer cache. Each answer is stored and charged on its own, so an interruption between two
 * of them makes no request be paid again. An unreadable answer is charged and not stored: the
 * document ends in the inbox, and a retry by a person asks the model again.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import {
  type Completer,
  type Completion,
  type CompletionRequest,
  guessCompletion,
} from '../../provider/completion/completion.ts';
import type { Tokens } from '../../provider/prices.ts';
import { keyOf } from '../../store/money/paid-answers.ts';
import { centsFor, type PaidAnswers, type Purchase } from '../paid-answers.ts';
import type { StepContext } from '../pipeline.ts';

/** Changes whenever the same answer would give another result. */
const stepVersion = 'entity_extracted 1';

/** The cache key of a request. */
export function answerKey(model: string, request: CompletionRequest): string {
  const { instruction, input, schemaName, schema } = request;
  const asText = JSON.stringify([instruction, schemaName, schema, input]);
  return keyOf({ step: stepVersion, model, input: asText });
}

export interface AskOptions<T> {
  readonly completer: Completer;
  /** Undefined if nothing is cached; then the cost is reported with the step. */
  readonly paidAnswers: PaidAnswers | undefined;
  /** Throws if the text does not match the schema. */
  readonly read: (text: string) => T;
}

export interface ModelAnswers<T> {
  /** In the order of the requests. */
  readonly answers: readonly T[];
  readonly paid: Tokens;
  readonly saved: Tokens;
  readonly costCents: number;
  readonly savedCents: number;
}

export type AskContext = Pick<StepContext, 'item' | 'signal' | 'progress' | 'used'>;

export function askModel<T>(
  context: AskContext,
  requests: readonly CompletionRequest[],
  options: AskOptions<T>,
): Promise<ModelAnswers<T>> {
  return new ModelRequests(context, options).ask(requests);
}

interface KeyedRequest {
  readonly key: string;
  readonly request: CompletionRequest;
}

/** The requests of one document. */
class ModelRequests<T> {
  readonly #context: AskContext;
  readonly #options: AskOptions<T>;
  readonly #purchase: Purchase;
  readonly #answers = new Map<string, T>();
  readonly #tokens = new Map<string, Tokens>();
  #paid: Tokens = { input: 0, output: 0 };
  #saved: Tokens = { input: 0, output: 0 };

  constructor(context: AskContext, options: AskOptions<T>) {
    this.#context = context;
    this.#options = options;
    const { model, prices } = options.completer;
    this.#purchase = {
      item: context.item,
      step: 'entity_extracted',
      model,
      prices,
      priceSetting: 'PAWL_EXTRACTOR_PRICE',
    };
    context.used?.({ model });
  }

  async ask(requests: readonly CompletionRequest[]): Promise<ModelAnswers<T>> {
    const { model } = this.#options.completer;
    const keyed = requests.map((request) => ({ key: answerKey(model, request), request }));
    await this.#recall(keyed);
    const wanted = new Map(
      keyed.filter(({ key }) => !this.#answers.has(key)).map((each) => [each.key, each]),
    );
    await this.#buy([...wanted.values()], requests.length);
    // Counts tokens that were not sent: cached answers, and repetitions within a document.
    for (const { key } of keyed) {
      if (wanted.delete(key)) continue;
      this.#saved = add(this.#saved, this.#tokens.get(key));
    }
    return {
      answers: keyed.map(({ key }) => this.#answers.get(key) as T),
      paid: this.#paid,
      saved: this.#saved,
      costCents: centsFor(this.#paid, this.#purchase) ?? 0,
      savedCents: centsFor(this.#saved, this.#purchase) ?? 0,
    };
  }

  async #recall(keyed: readonly KeyedRequest[]): Promise<void> {
    const keys = keyed.map(({ key }) => key);
    const known = (await this.#options.paidAnswers?.find([...new Set(keys)])) ?? new Map();
    for (const [key, { value, tokens, tokens_out }] of known) {
      this.#answers.set(key, this.#options.read(Buffer.from(value).toString()));
      this.#tokens.set(key, { input: tokens, output: tokens_out });
    }
  }

  /** A few at a time: their cost is reserved together, and after a failure no more are sent. */
  async #buy(wanted: readonly KeyedRequest[], total: number): Promise<void> {
    const { signal, progress } = this.#context;
    const { paidAnswers } = this.#options;
    const { passagesAtOnceMax } = limits.completion;
    for (let start = 0; start < wanted.length; start += passagesAtOnceMax) {
      signal.throwIfAborted();
      const few = wanted.slice(start, start + passagesAtOnceMax);
      const guesses = few.map(({ request }) => guessCompletion(request));
      const isReserved = await paidAnswers?.reserve(this.#purchase, guesses.reduce(add));
      const outcomes = await Promise.allSettled(few.map((request) => this.#call(request)));
      const failed = outcomes.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') {
        // After an abort, a call may still be in flight and has to be paid.
        if (isReserved && !signal.aborted) await paidAnswers?.release(this.#purchase);
        throw failed.reason;
      }
      progress(total - wanted.length + start + few.length, total);
    }
  }

  async #call({ key, request }: KeyedRequest): Promise<void> {
    const { completer, paidAnswers } = this.#options;
    const keep = async (completion: Completion): Promise<void> => {
      const { outcome, tokens } = completion;
      const isUsable = !(this.#reading(outcome) instanceof Failure);
      const value = isUsable ? Buffer.from(String(outcome)) : undefined;
      this.#context.used?.({
        model: completer.model,
        tokensIn: tokens.input,
        tokensOut: tokens.output,
        costCents: centsFor(tokens, this.#purchase),
      });
      await paidAnswers?.keep(this.#purchase, [{ key, value, tokens }]);
    };
    const answer = await completer.complete(request, this.#context.signal, keep);
    const reading = this.#reading(answer.outcome);
    if (reading instanceof Failure) throw reading;
    this.#answers.set(key, reading);
    this.#tokens.set(key, answer.tokens);
    if (answer.isPayer) this.#paid = add(this.#paid, answer.tokens);
    else this.#saved = add(this.#saved, answer.tokens);
  }

  #reading(outcome: string | Failure): T | Failure {
    if (outcome instanceof Failure) return outcome;
    try {
      return this.#options.read(outcome);
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  }
}

function add(one: Tokens, other: Tokens = { input: 0, output: 0 }): Tokens {
  return { input: one.input + other.input, output: one.output + other.output };
}
