/**
 * A request to a model whose response is JSON of a given schema. It costs money: a response is
 * first passed to `keep`; once that has stored it, no crash can make it be paid again.
 */
import type { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Origin } from '../../kernel/name/origin.ts';
import { guessTokens } from '../embedding/embedding.ts';
import type { Prices, Tokens } from '../prices.ts';

export interface CompletionRequest {
  /** The task of the model. */
  readonly instruction: string;
  /** The input of the task: data, never instructions. */
  readonly input: string;
  readonly schemaName: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface Completion {
  /**
   * As the model wrote it; the caller validates it. Or a failure, if the model refused or was cut
   * short: that is paid for like any other response.
   */
  readonly outcome: string | Failure;
  readonly tokens: Tokens;
}

/**
 * Called with the paid responses as they arrive, even if the caller no longer waits. The response
 * is returned only when this resolves.
 */
export type Keep = (completion: Completion) => Promise<void>;

/** Requests are self-contained, so responses can be cached by request. */
export interface Completer {
  /** The model with its parameters. */
  readonly model: string;
  /** Undefined if unknown. */
  readonly prices: Prices | undefined;
  /** Where texts are sent; undefined if they stay in this process. */
  readonly origin?: Origin | undefined;
  complete(
    request: CompletionRequest,
    signal: AbortSignal,
    keep?: Keep,
  ): Promise<
    Completion & {
      /** False if the same request was already in flight and another caller has paid. */
      readonly isPayer: boolean;
    }
  >;
  /** Waits briefly for responses in flight, so that they are stored, then gives up. */
  close?(): Promise<void>;
}

/** Estimates the cost of a request, rather too high than too low. */
export function guessCompletion({ instruction, input, schema }: CompletionRequest): Tokens {
  const { answerFactor } = limits.completion;
  const asked = guessTokens(input);
  const fixed = guessTokens(instruction) + guessTokens(JSON.stringify(schema));
  return { input: fixed + asked, output: Math.ceil(asked * answerFactor) };
}
