/**
 * Questions to answers: those that were answered before from the purse, the others by the model, a
 * few at a time. Each answer is kept and charged by itself, so that whatever happens between two of
 * them, no question is paid for again. An answer that cannot be read is charged and not kept: the
 * document ends in the inbox, and a person who retries it asks the model anew.
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

/** It changes when something else is made of the same answer. */
const stepVersion = 'entity_extracted 1';

/** The key under which the answer to a question is kept. */
export function answerKey(model: string, request: CompletionRequest): string {
  const { instruction, input, schemaName, schema } = request;
  const asked = JSON.stringify([instruction, schemaName, schema, input]);
  return keyOf({ step: stepVersion, model, input: asked });
}

export interface AskOptions<T> {
  readonly completer: Completer;
  /** Undefined: nothing is kept, and what it costs is told with the step. */
  readonly paidAnswers: PaidAnswers | undefined;
  /** Throws where the text has not the form that was asked for. */
  readonly read: (text: string) => T;
}

export interface Asked<T> {
  /** In the order of the questions. */
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
): Promise<Asked<T>> {
  return new Questions(context, options).ask(requests);
}

interface Question {
  readonly key: string;
  readonly request: CompletionRequest;
}

/** One document's questions. */
class Questions<T> {
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

  async ask(requests: readonly CompletionRequest[]): Promise<Asked<T>> {
    const { model } = this.#options.completer;
    const questions = requests.map((request) => ({ key: answerKey(model, request), request }));
    await this.#recall(questions);
    const wanted = new Map(
      questions.filter(({ key }) => !this.#answers.has(key)).map((each) => [each.key, each]),
    );
    await this.#buy([...wanted.values()], requests.length);
    // Whatever was not sent is saved: what was kept, and what a document says twice.
    for (const { key } of questions) {
      if (wanted.delete(key)) continue;
      this.#saved = add(this.#saved, this.#tokens.get(key));
    }
    return {
      answers: questions.map(({ key }) => this.#answers.get(key) as T),
      paid: this.#paid,
      saved: this.#saved,
      costCents: centsFor(this.#paid, this.#purchase) ?? 0,
      savedCents: centsFor(this.#saved, this.#purchase) ?? 0,
    };
  }

  async #recall(questions: readonly Question[]): Promise<void> {
    const keys = questions.map(({ key }) => key);
    const known = (await this.#options.paidAnswers?.find([...new Set(keys)])) ?? new Map();
    for (const [key, { value, tokens, tokens_out }] of known) {
      this.#answers.set(key, this.#options.read(Buffer.from(value).toString()));
      this.#tokens.set(key, { input: tokens, output: tokens_out });
    }
  }

  /** A few at a time: their money is set aside together, and after a failure no more are begun. */
  async #buy(wanted: readonly Question[], total: number): Promise<void> {
    const { signal, progress } = this.#context;
    const { paidAnswers } = this.#options;
    const { passagesAtOnceMax } = limits.completion;
    for (let start = 0; start < wanted.length; start += passagesAtOnceMax) {
      signal.throwIfAborted();
      const few = wanted.slice(start, start + passagesAtOnceMax);
      const guesses = few.map(({ request }) => guessCompletion(request));
      const isReserved = await paidAnswers?.reserve(this.#purchase, guesses.reduce(add));
      const outcomes = await Promise.allSettled(few.map((question) => this.#call(question)));
      const failed = outcomes.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') {
        // Who was interrupted may have a call under way that is still to be paid.
        if (isReserved && !signal.aborted) await paidAnswers?.release(this.#purchase);
        throw failed.reason;
      }
      progress(total - wanted.length + start + few.length, total);
    }
  }

  async #call({ key, request }: Question): Promise<void> {
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
