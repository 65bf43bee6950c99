/** Small words that the adapters share: what an error says, and how results are read in lines. */
import type { Saying } from '../../kernel/batch-decision.ts';
import { Failure, toFailure } from '../../kernel/failure.ts';
import { limits } from '../../kernel/limits.ts';
import type { JsonObject } from '../../kernel/provider-state.ts';
import type { PollAnswer, ResultLine } from './batch-provider.ts';
import { parseObject } from './endpoint.ts';

/** What a poll that threw says of the job. */
export function sayingOfError(error: unknown): PollAnswer {
  const failure = toFailure(error);
  const { status } = failure.context;
  const isGone = status === 404 || status === 410;
  const said: Saying = isGone
    ? 'gone'
    : failure.code === 'rate_limited'
      ? 'limited'
      : 'unreachable';
  return { said, detail: failure.message, retryAfterMs: failure.retryAfterMs };
}

/** A provider's word for a state as one of ours. */
export function sayingOf(words: Readonly<Record<string, Saying>>, word: unknown): Saying {
  return typeof word === 'string' && Object.hasOwn(words, word)
    ? (words[word] as Saying)
    : 'unknown';
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A text that must be there. */
export function needText(value: unknown, what: string): string {
  const text = textOf(value);
  if (text !== undefined) return text;
  throw new Failure('provider_protocol_error', `the provider's answer has no ${what}`);
}

export function objectOf(value: unknown): JsonObject {
  return value instanceof Object && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** A provider cannot bill less than nothing, nor by half tokens. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

/** The provider answered about another job than it was asked about. */
export function checkSame(answered: unknown, asked: string): void {
  if (answered === asked) return;
  const message = `asked about ${asked}, the provider answered about ${String(answered)}`;
  throw new Failure('provider_protocol_error', message.slice(0, limits.batch.errorCharactersMax));
}

const newline = 10;

/**
 * Lines of JSON as they come. A line that is no JSON, no UTF-8 or too long is told as odd, and the
 * next is read; beyond the bound of the whole, the rest is left.
 */
export async function* readLines(
  bytes: AsyncIterable<Uint8Array>,
  read: (line: JsonObject) => ResultLine,
): AsyncGenerator<ResultLine, void> {
  let place = 0;
  for await (const line of splitLines(bytes)) {
    place += 1;
    if (typeof line === 'string') yield { id: undefined, odd: line };
    else if (line.length > 0) yield readLine(line, place, read);
  }
}

function readLine(
  line: Uint8Array,
  place: number,
  read: (line: JsonObject) => ResultLine,
): ResultLine {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(line).trim();
    if (text === '') return { id: undefined, odd: '' };
    return read(parseObject(text, `line ${place}`));
  } catch (error) {
    return { id: undefined, odd: `line ${place}: ${toFailure(error).message}` };
  }
}

/** Lines as bytes, or a sentence in place of what was left out. */
async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array | string, void> {
  const { lineBytesMax, resultBytesMax } = limits.batch;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let allBytes = 0;
  const take = (): Uint8Array | string => {
    const line = heldBytes > lineBytesMax ? tooLong : Buffer.concat(held);
    held = [];
    heldBytes = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    hold(chunk.subarray(start));
    allBytes += chunk.length;
    if (allBytes <= resultBytesMax) continue;
    yield `the result has more than ${resultBytesMax} bytes: the rest was left`;
    return;
  }
  if (heldBytes > 0) yield take();

  function hold(part: Uint8Array): void {
    heldBytes += part.length;
    if (heldBytes <= lineBytesMax) held.push(part);
    else held = [];
  }
}

const tooLong = `a line of more than ${limits.batch.lineBytesMax} bytes`;

/** How long a recording is, where its provider says so. */
export function lasting(seconds: number): { duration_ms?: number } {
  return Number.isFinite(seconds) && seconds > 0
    ? { duration_ms: Math.round(seconds * 1_000) }
    : {};
}
