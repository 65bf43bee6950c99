/** Completions from any endpoint that speaks OpenAI's chat completions, with structured output. */
import { Failure, type FailureCode } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { World } from '../kernel/world.ts';
import { Budget } from './budget.ts';
import type { Completer, Completion, CompletionRequest } from './completion.ts';

export interface OpenaiCompletionOptions {
  readonly model: string;
  /** Up to and with the version, such as `https://api.openai.com/v1`. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly world: World;
  readonly budget?: Budget | undefined;
  /** What a million tokens cost, in cents. */
  readonly prices?: { readonly inputCents: number; readonly outputCents: number } | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

interface Answer {
  readonly choices?: readonly {
    readonly finish_reason?: unknown;
    readonly message?: { readonly content?: unknown; readonly refusal?: unknown };
  }[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown };
}

export function openaiCompleter(options: OpenaiCompletionOptions): Completer {
  const { model, world, budget = new Budget(model, world) } = options;
  return {
    model,
    complete: async (request, signal) => {
      budget.take(estimateTokens(request));
      const { status, headers, body } = await post(options, bodyOf(model, request), signal);
      if (status === 200) return completionOf(body, options);
      const failure = refusalOf(options, { status, retryAfter: headers.get('retry-after'), body });
      if (failure.retryAfterMs !== undefined) budget.close(failure.retryAfterMs);
      throw failure;
    },
  };
}

/** English has about four characters to a token; other scripts have fewer, and cost more. */
function estimateTokens({ instruction, input }: CompletionRequest): number {
  return Math.ceil((Buffer.byteLength(instruction) + Buffer.byteLength(input)) / 4);
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

async function post(
  { url, key, world, model, fetch = globalThis.fetch }: OpenaiCompletionOptions,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const overdue = new AbortController();
  const stop = world.setTimer(() => overdue.abort(), limits.completion.wholeMs);
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body,
      // A redirect would carry the key and the document to somebody else.
      redirect: 'error',
      signal: AbortSignal.any([signal, overdue.signal]),
    });
    return { status: response.status, headers: response.headers, body: await readBody(response) };
  } catch (error) {
    if (error instanceof Failure || signal.aborted) throw error;
    const seconds = limits.completion.wholeMs / 1000;
    const what = overdue.signal.aborted ? `did not answer in ${seconds} s` : 'cannot be reached';
    const message = `${model} at ${hostOf(url)} ${what}`;
    throw new Failure('provider_unavailable', message, { cause: error });
  } finally {
    stop();
  }
}

async function readBody(response: globalThis.Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > limits.completion.answerBytesMax) {
      const message = `the answer is larger than ${limits.completion.answerBytesMax} bytes`;
      throw new Failure('step_output_invalid', message);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function completionOf(body: string, { model, prices }: OpenaiCompletionOptions): Completion {
  const answer = parseAnswer(body, model);
  const [choice] = answer.choices ?? [];
  const content = choice?.message?.content;
  if (typeof choice?.message?.refusal === 'string') {
    throw new Failure('step_output_invalid', `${model} refused to answer`);
  }
  if (choice?.finish_reason === 'length') {
    throw new Failure('step_output_invalid', `${model} ended in the middle of its answer`);
  }
  if (typeof content !== 'string') {
    throw new Failure('step_output_invalid', `${model} answered without content`);
  }
  const tokensIn = countOf(answer.usage?.prompt_tokens);
  const tokensOut = countOf(answer.usage?.completion_tokens);
  const { inputCents = 0, outputCents = 0 } = prices ?? {};
  const costCents = (tokensIn * inputCents + tokensOut * outputCents) / 1_000_000;
  return { text: content, tokensIn, tokensOut, costCents };
}

function parseAnswer(body: string, model: string): Answer {
  try {
    const answer: unknown = JSON.parse(body);
    if (answer instanceof Object) return answer;
  } catch (error) {
    const message = `${model} answered with something else than JSON`;
    throw new Failure('step_output_invalid', message, { cause: error });
  }
  throw new Failure('step_output_invalid', `${model} answered with something else than an object`);
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

const codes: Readonly<Record<number, FailureCode>> = {
  401: 'provider_auth',
  403: 'provider_auth',
  408: 'provider_unavailable',
  429: 'rate_limited',
};

function refusalOf(
  { model, url, world }: OpenaiCompletionOptions,
  { status, retryAfter, body }: { status: number; retryAfter: string | null; body: string },
): Failure {
  const code = codes[status] ?? (status >= 500 ? 'provider_unavailable' : 'provider_bad_request');
  const message = `${model} at ${hostOf(url)} answered ${status}${reasonOf(body)}`;
  const retryAfterMs = code === 'rate_limited' ? waitOf(retryAfter, world.now()) : undefined;
  return new Failure(code, message, { retryAfterMs, context: { status } });
}

/** A provider's own words help, unless they repeat the request: only a short message is shown. */
function reasonOf(body: string): string {
  try {
    const message: unknown = JSON.parse(body)?.error?.message;
    if (typeof message === 'string') return `: ${message.slice(0, 200)}`;
  } catch {
    // An error page of a proxy says nothing that the status does not.
    return '';
  }
  return '';
}

function waitOf(header: string | null, now: number): number {
  const { retryAfterMsDefault, retryAfterMsMin, retryAfterMsMax } = limits.wait;
  const text = header?.trim() ?? '';
  const asked = /^\d{1,9}(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  const wait = Number.isFinite(asked) ? asked : retryAfterMsDefault;
  return Math.min(Math.max(wait, retryAfterMsMin), retryAfterMsMax);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that is none';
}
