/**
 * Streamed completions from any endpoint with OpenAI's chat completions interface. Its end is only
 * believed if the server names it: a connection that breaks is a failure, not a short answer.
 */
import { readBoundedText } from '../../concurrency/bounded.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type Origin, originOf } from '../../kernel/name/origin.ts';
import { guessTokens } from '../embedding/embedding.ts';
import { bearer, hostOf, openPost } from '../model-post.ts';
import { type OpenaiServer, refusedBy } from '../openai-server.ts';
import { costOf, type Prices, priceOf, type Tokens } from '../prices.ts';
import { Budget } from '../rate-limit.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

export type ChatEvent =
  /** The server has accepted the request: from here on it costs. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'text'; readonly text: string }
  /** The end. `tokens` is undefined if the server does not count. */
  | { readonly kind: 'end'; readonly isCut: boolean; readonly tokens: Tokens | undefined };

export interface ChatModel {
  readonly model: string;
  readonly origin: Origin;
  /** Undefined if the price is unknown. */
  centsOf(tokens: Tokens): number | undefined;
  /** Rather too many than too few. */
  guess(messages: readonly ChatMessage[]): Tokens;
  /** Ends the request when it is left. */
  stream(messages: readonly ChatMessage[], signal: AbortSignal): AsyncGenerator<ChatEvent>;
}

export interface ChatOptions extends OpenaiServer {
  /** If absent, those of the price table. */
  readonly prices?: Prices | undefined;
}

export function openaiChat(options: ChatOptions): ChatModel {
  const { model, url, world, prices = priceOf(options.model) } = options;
  const budget = new Budget(hostOf(url), world, options.budget ?? limits.answer);
  const guess = (messages: readonly ChatMessage[]): Tokens => ({
    input: messages.reduce((sum, { content }) => sum + guessTokens(content), 0),
    output: guessTokens('x'.repeat(limits.answer.charactersMax)),
  });
  return {
    model,
    origin: originOf(url, options.isNamed ?? true),
    centsOf: (tokens) => prices && costOf(tokens, prices),
    guess,
    stream: (messages, signal) => {
      const { input, output } = guess(messages);
      budget.take(input + output);
      return streamed(options, { messages, signal, budget });
    },
  };
}

interface Asked {
  readonly messages: readonly ChatMessage[];
  readonly signal: AbortSignal;
  readonly budget: Budget;
}

async function* streamed(
  { model, url, key, world }: ChatOptions,
  { messages, signal, budget }: Asked,
): AsyncGenerator<ChatEvent> {
  const { failureOf, response, end } = openPost({
    url: `${url.replace(/\/+$/, '')}/chat/completions`,
    model,
    headers: { ...bearer(key), accept: 'text/event-stream' },
    body: JSON.stringify({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    }),
    world,
    wholeMs: limits.answer.wholeMs,
    signal,
  });
  try {
    const answer = await response;
    if (answer.status !== 200) {
      const { answerBytesMax } = limits.answer;
      const body = await readBoundedText(answer.body, answerBytesMax, () => tooLong(model));
      const headers = Object.fromEntries(answer.headers);
      const texts = messages.map(({ content }) => content);
      const asker = { host: hostOf(url), model, key, texts, now: world.now() };
      throw refusedBy(budget, { status: answer.status, headers, body }, asker);
    }
    yield { kind: 'begun' };
    yield* eventsOf(answer, model);
  } catch (error) {
    throw failureOf(error);
  } finally {
    end();
  }
}

async function* eventsOf(response: Response, model: string): AsyncGenerator<ChatEvent> {
  let tokens: Tokens | undefined;
  let finish: unknown;
  for await (const text of dataOf(response, model)) {
    if (text === '[DONE]') break;
    const chunk = parse(text, model);
    if (chunk.error !== undefined) {
      throw new Failure('provider_unavailable', `${model} failed in the middle of its answer`);
    }
    tokens = countOf(chunk.usage) ?? tokens;
    const [choice] = chunk.choices ?? [];
    finish = choice?.finish_reason ?? finish;
    const { content, refusal } = choice?.delta ?? {};
    if (typeof refusal === 'string' && refusal !== '') {
      throw new Failure('step_output_invalid', `${model} refused to answer`);
    }
    if (typeof content === 'string' && content !== '') yield { kind: 'text', text: content };
  }
  if (typeof finish !== 'string') {
    throw new Failure('provider_unavailable', `${model} ended in the middle of its answer`);
  }
  yield { kind: 'end', isCut: finish !== 'stop', tokens };
}

interface Chunk {
  readonly error?: unknown;
  readonly usage?: unknown;
  readonly choices?: readonly {
    readonly finish_reason?: unknown;
    readonly delta?: { readonly content?: unknown; readonly refusal?: unknown };
  }[];
}

function parse(text: string, model: string): Chunk {
  try {
    const chunk: unknown = JSON.parse(text);
    if (chunk instanceof Object) return chunk;
  } catch (error) {
    const message = `${model} sent something else than JSON`;
    throw new Failure('step_output_invalid', message, { cause: error });
  }
  throw new Failure('step_output_invalid', `${model} sent something else than an object`);
}

function countOf(usage: unknown): Tokens | undefined {
  if (!(usage instanceof Object)) return undefined;
  const { prompt_tokens: input, completion_tokens: output } = usage as Record<string, unknown>;
  return isCount(input) && isCount(output) ? { input, output } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}

/** The `data:` lines of an event stream. */
async function* dataOf({ body }: Response, model: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [rest, bytes] = ['', 0];
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > limits.answer.answerBytesMax) throw tooLong(model);
    rest += decoder.decode(piece, { stream: true });
    const lines = rest.split(/\r\n|\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data:')) yield line.slice(5).trim();
  }
  if (rest.startsWith('data:')) yield rest.slice(5).trim();
}

function tooLong(model: string): Failure {
  const { answerBytesMax } = limits.answer;
  const message = `the answer of ${model} is larger than ${answerBytesMax} bytes`;
  return new Failure('step_output_invalid', message);
}
