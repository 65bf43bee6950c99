/**
 * Completions from any endpoint with OpenAI's chat completions interface, with structured output.
 */
import { readBoundedText } from '../../concurrency/bounded.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { originOf } from '../../kernel/name/origin.ts';
import { guessTokens } from '../embedding/embedding.ts';
import { InFlight } from '../in-flight.ts';
import { bearer, hostOf, postToModel } from '../model-post.ts';
import { type OpenaiServer, refusedBy, settled } from '../openai-server.ts';
import { type Prices, priceOf } from '../prices.ts';
import { Budget } from '../rate-limit.ts';
import {
  type Completer,
  type Completion,
  type CompletionRequest,
  guessCompletion,
} from './completion.ts';

export interface OpenaiCompletionOptions extends OpenaiServer {
  /** If absent, those of the price table. */
  readonly prices?: Prices | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

interface ChatResponse {
  readonly choices?: readonly {
    readonly finish_reason?: unknown;
    readonly message?: { readonly content?: unknown; readonly refusal?: unknown };
  }[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown };
}

export function openaiCompleter(options: OpenaiCompletionOptions): Completer {
  const { model, world, prices = priceOf(model) } = options;
  const budget = new Budget(hostOf(options.url), world, options.budget ?? limits.completion);
  const inFlight = new InFlight<Completion>(limits.completion.concurrencyMax);
  const closing = new AbortController();
  const send = async (request: CompletionRequest): Promise<Completion> => {
    const guess = guessCompletion(request);
    budget.take(guess.input + guess.output);
    const { status, headers, body } = await post(options, bodyOf(model, request), closing.signal);
    if (status === 200) return completionOf(body, { model, request });
    const { url, key } = options;
    const texts = [request.input, request.instruction];
    const asker = { host: hostOf(url), model, key, texts, now: world.now() };
    throw refusedBy(budget, { status, headers: Object.fromEntries(headers), body }, asker);
  };
  return {
    model,
    prices: prices && { input: prices.input, output: prices.output },
    origin: originOf(options.url, options.isNamed ?? true),
    // A sent request is paid for: aborting the step does not cancel it.
    complete: async (request, signal, keep) => {
      const asking = { key: JSON.stringify(request), signal, send: () => send(request), keep };
      const { answer, isPayer } = await inFlight.ask(asking);
      return { ...answer, isPayer };
    },
    close: async () => {
      await settled(world, inFlight.idle());
      closing.abort();
    },
  };
}

function bodyOf(model: string, request: CompletionRequest): string {
  const { instruction, input, schemaName, schema } = request;
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: instruction },
      { role: 'user', content: input },
    ],
    response_format: {
      type: 'json_schema',
      json_schema: { name: schemaName, strict: true, schema },
    },
    temperature: 0,
  });
}

interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

function post(
  { url, key, world, model, fetch }: OpenaiCompletionOptions,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const { wholeMs } = limits.completion;
  const at = `${url.replace(/\/$/, '')}/chat/completions`;
  const headers = bearer(key);
  const asked = { url: at, model, headers, body, world, wholeMs, signal, fetch };
  return postToModel(asked, async (response) => {
    const { status } = response;
    return { status, headers: response.headers, body: await readBody(response) };
  });
}

function readBody({ body }: globalThis.Response): Promise<string> {
  const { answerBytesMax } = limits.completion;
  const message = `the answer is larger than ${answerBytesMax} bytes`;
  return readBoundedText(body, answerBytesMax, () => new Failure('step_output_invalid', message));
}

interface CompletionCall {
  readonly model: string;
  readonly request: CompletionRequest;
}

function completionOf(body: string, call: CompletionCall): Completion {
  const answer = parseResponse(body, call.model);
  const outcome = outcomeOf(answer, call.model);
  const { prompt_tokens: input, completion_tokens: output } = answer.usage ?? {};
  const guess = guessCompletion(call.request).input;
  // Some servers do not count tokens. A truncated or refused response costs something too.
  const said = answer.choices?.[0]?.message?.content;
  const guessed = typeof said === 'string' ? guessTokens(said) : 0;
  return { outcome, tokens: { input: countOf(input, guess), output: countOf(output, guessed) } };
}

function outcomeOf({ choices }: ChatResponse, model: string): string | Failure {
  const [choice] = choices ?? [];
  const content = choice?.message?.content;
  const invalid = (what: string) => new Failure('step_output_invalid', `${model} ${what}`);
  if (typeof choice?.message?.refusal === 'string') return invalid('refused to answer');
  if (choice?.finish_reason === 'length') return invalid('ended in the middle of its answer');
  return typeof content === 'string' ? content : invalid('answered without content');
}

function parseResponse(body: string, model: string): ChatResponse {
  try {
    const answer: unknown = JSON.parse(body);
    if (answer instanceof Object) return answer;
  } catch (error) {
    const message = `${model} answered with something else than JSON`;
    throw new Failure('step_output_invalid', message, { cause: error });
  }
  throw new Failure('step_output_invalid', `${model} answered with something else than an object`);
}

function countOf(value: unknown, guess: number): number {
  const isCount = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return isCount ? Math.floor(value) : guess;
}
