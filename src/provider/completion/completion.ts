/**
 * A question to a model, whose answer is JSON of a given form. It costs money: what is answered is
 * handed to `keep` first, and once it is kept, no crash can make it be paid for again.
 */
import type { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Origin } from '../../kernel/name/origin.ts';
import { guessTokens } from '../embedding/embedding.ts';
import type { Prices, Tokens } from '../prices.ts';

export interface CompletionRequest {
  /** What the model is to do. */
  readonly instruction: string;
  /** What it is to do it with: data, never instructions. */
  readonly input: string;
  readonly schemaName: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface Completion {
  /**
   * As the model wrote it: whether it has the form is for the asker to check. Or why it is of no
   * use, where the model refused or was cut short: that is paid for like any other answer.
   */
  readonly outcome: string | Failure;
  readonly tokens: Tokens;
}

/**
 * Called with what the call has paid for, as soon as it is there, and even if its caller no longer
 * waits. Only when this resolves is the answer handed on.
 */
export type Keep = (completion: Completion) => Promise<void>;

/** The same request may be asked again, and its answer kept: nothing else goes into it. */
export interface Completer {
  /** The model with its parameters. */
  readonly model: string;
  /** Undefined where nobody has told us. */
  readonly prices: Prices | undefined;
  /** Where texts are sent; undefined: they stay in this process. */
  readonly origin?: Origin | undefined;
  complete(
    request: CompletionRequest,
    signal: AbortSignal,
    keep?: Keep,
  ): Promise<
    Completion & {
      /** False: somebody else asked the same a moment ago, and has paid for both. */
      readonly isPayer: boolean;
    }
  >;
  /** Waits a little for answers that are under way, so that they are kept, and then gives up. */
  close?(): Promise<void>;
}

/** About what a question will cost; rather too much than too little. */
export function guessCompletion({ instruction, input, schema }: CompletionRequest): Tokens {
  const { answerFactor } = limits.completion;
  const asked = guessTokens(input);
  const fixed = guessTokens(instruction) + guessTokens(JSON.stringify(schema));
  return { input: fixed + asked, output: Math.ceil(asked * answerFactor) };
}
