/** Shared by the adapters: mapping errors and states, and reading result lines. */
import type { Saying } from '../../kernel/batch-decision.ts';
import { Failure, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { JsonObject } from '../../kernel/provider-state.ts';
import type { PollAnswer, ResultLine } from './batch-provider.ts';
import { parseObject } from './endpoint.ts';

/** What a failed poll means for the job. */
export function sayingOfError(error: unknown): PollAnswer {
  const failure = toFailure(error);
  const { status } = failure.context;
  const isGone = status === 404 || status === 410;
  const said: Saying = isGone ? 'gone' : (sayingsOfCodes[failure.code] ?? 'unreachable');
  return { said, detail: failure.message, retryAfterMs: failure.retryAfterMs };
}

const sayingsOfCodes: Partial<Record<Failure['code'], Saying>> = {
  rate_limited: 'limited',
  provider_quota: 'denied',
  provider_auth: 'denied',
};

/** Maps a provider's state to one of ours. */
export function sayingOf(words: Readonly<Record<string, Saying>>, word: unknown): Saying {
  return typeof word === 'string' && Object.hasOwn(words, word)
    ? (words[word] as Saying)
    : 'unknown';
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A required text field. */
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

/** A provider cannot bill negative or fractional tokens. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

/** Throws if the provider responded about another job. */
export function checkSame(answered: unknown, asked: string): void {
  if (answered === asked) return;
  const message = `asked about ${asked}, the provider answered about ${String(answered)}`;
  throw new Failure('provider_protocol_error', message.slice(0, limits.batch.errorCharactersMax));
}

const newline = 10;

/**
 * Lines of JSON as they arrive. A line that is not JSON, not UTF-8 or too long is reported as odd,
 * and the next is read. The number of good lines is bounded by the request, so only odd lines need
 * a limit: beyond it, the rest is not read.
 */
export async function* readLines(
  bytes: AsyncIterable<Uint8Array>,
  read: (line: JsonObject) => ResultLine,
): AsyncGenerator<ResultLine, void> {
  let place = 0;
  let noise = 0;
  for await (const { line, length, isRest } of splitLines(bytes)) {
    place += isRest ? 0 : 1;
    const odd = isRest ? '' : tooLong;
    const result = line ? readLine(line, place, read) : { id: undefined, odd };
    if (result.id === undefined) noise += length;
    yield result;
    if (noise <= limits.batch.noiseBytesMax) continue;
    const most = `${limits.batch.noiseBytesMax} bytes`;
    const end = `more than ${most} of no use: the rest was not read`;
    yield { id: undefined, odd: end, isEnd: true };
    return;
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

/** Lines with their lengths. A line that is too long comes in parts, without its bytes. */
async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ line: Uint8Array | undefined; length: number; isRest: boolean }, void> {
  const { lineBytesMax } = limits.batch;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let isTooLong = false;
  let isRest = false;
  const hold = (part: Uint8Array): void => {
    heldBytes += part.length;
    isTooLong ||= heldBytes > lineBytesMax;
    if (isTooLong) held = [];
    else held.push(part);
  };
  const take = () => {
    const line = isTooLong ? undefined : Buffer.concat(held);
    const taken = { line, length: heldBytes, isRest };
    held = [];
    heldBytes = 0;
    isRest = isTooLong;
    return taken;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end));
      yield take();
      isTooLong = false;
      isRest = false;
      start = end + 1;
    }
    hold(chunk.subarray(start));
    if (isTooLong && heldBytes > lineBytesMax) yield take();
  }
  if (heldBytes > 0) yield take();
}

const tooLong = `a line of more than ${limits.batch.lineBytesMax} bytes`;

/** The length of a recording, if its provider reports it. */
export function lasting(seconds: number): { duration_ms?: number } {
  return Number.isFinite(seconds) && seconds > 0
    ? { duration_ms: Math.round(seconds * 1_000) }
    : {};
}
