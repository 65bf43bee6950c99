/**
 * Parses untrusted JSON bodies without blocking the event loop. A body may have 24 MiB, and one
 * with millions of small values takes seconds to parse. So its structure is scanned first, in
 * slices: depth and number of values are known, and bounded, before anything is parsed. Then its
 * long lists are parsed in slices of some hundred kilobytes, and the event loop runs in between.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';

export type ParseJson = (text: string) => unknown;

/** A list at the top level of the body: its position, and where it may be split. */
interface LongList {
  readonly start: number;
  readonly cuts: readonly number[];
  readonly end: number;
}

const code = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  backslash: 0x5c,
  openList: 0x5b,
  closeList: 0x5d,
  open: 0x7b,
  close: 0x7d,
} as const;

export interface JsonReading {
  readonly parse: ParseJson;
  /** Placeholder of a list that is parsed later. It is random, so no body can contain it. */
  readonly mark: string;
  /** Services of Pawl may send any number of values. */
  readonly isTrusted: boolean;
}

export async function readJson(bytes: Buffer, reading: JsonReading): Promise<unknown> {
  const { parse, isTrusted } = reading;
  const scan = new Scan(bytes, isTrusted);
  const slice = new TimeSlice();
  while (scan.more()) if (slice.isOver) await slice.next();
  if (scan.lists.length === 0) {
    const text = bytes.toString();
    await slice.next();
    return parse(text);
  }
  const { text, marks } = skeletonOf(bytes, scan.lists, reading.mark);
  const body = parse(text) as Record<string, unknown>;
  for (const [key, value] of Object.entries(body)) {
    const list = typeof value === 'string' ? marks.get(value) : undefined;
    if (list) body[key] = await readList(bytes, list, parse);
  }
  return body;
}

async function readList(bytes: Buffer, list: LongList, parse: ParseJson): Promise<unknown[]> {
  const whole: unknown[] = [];
  const slice = new TimeSlice();
  let from = list.start + 1;
  for (const to of [...list.cuts, list.end]) {
    if (slice.isOver) await slice.next();
    const part = parse(`[${bytes.toString('utf8', from, to)}]`) as unknown[];
    // A comma before the end, or after another comma, marks an empty entry.
    if (part.length === 0 && list.cuts.length > 0)
      throw new Failure('bad_request', 'a list in the body has an empty entry');
    for (const each of part) whole.push(each);
    from = to + 1;
  }
  return whole;
}

/** The body with a placeholder for each long list. */
function skeletonOf(bytes: Buffer, lists: readonly LongList[], nonce: string) {
  const marks = new Map<string, LongList>();
  const parts: string[] = [];
  let from = 0;
  for (const list of lists) {
    const mark = `list ${marks.size} ${nonce}`;
    marks.set(mark, list);
    parts.push(bytes.toString('utf8', from, list.start), JSON.stringify(mark));
    from = list.end + 1;
  }
  parts.push(bytes.toString('utf8', from));
  return { text: parts.join(''), marks };
}

/** One pass over the structure. The parser checks whether the JSON is valid. */
class Scan {
  readonly lists: LongList[] = [];
  readonly #bytes: Buffer;
  readonly #isTrusted: boolean;
  #at = 0;
  #depth = 0;
  #isText = false;
  #isTopObject = false;
  /** Structural characters: about as many as values. */
  #signs = 0;
  /** Values outside the long lists, which are parsed in one call. */
  #partSigns = 0;
  #outerSigns = 0;
  #partStart = 0;
  #listStart = -1;
  #cuts: number[] = [];

  constructor(bytes: Buffer, isTrusted: boolean) {
    this.#bytes = bytes;
    this.#isTrusted = isTrusted;
  }

  /** Scans the next slice. Returns false at the end. */
  more(): boolean {
    const bytes = this.#bytes;
    const last = Math.min(bytes.length, this.#at + limits.request.jsonScanBytes);
    while (this.#at < last) {
      const byte = bytes[this.#at] as number;
      if (this.#isText) {
        if (byte === code.backslash) this.#at += 1;
        else if (byte === code.quote) this.#isText = false;
      } else if (byte === code.quote) this.#isText = true;
      else if (isSign(byte)) this.#see(byte);
      this.#at += 1;
    }
    return this.#at < bytes.length;
  }

  #see(byte: number): void {
    const { jsonDepthMax } = limits.request;
    this.#signs += 1;
    if (this.#listStart >= 0) this.#partSigns += 1;
    else this.#outerSigns += 1;
    if (!this.#isTrusted) this.#checkSigns();
    if (byte === code.open || byte === code.openList) this.#open(byte);
    else if (byte === code.close || byte === code.closeList) this.#close();
    else if (byte === code.comma && this.#depth === 2 && this.#listStart >= 0) this.#cut();
    if (this.#depth <= jsonDepthMax) return;
    throw new Failure('bad_request', `the body is nested more than ${jsonDepthMax} levels deep`);
  }

  #checkSigns(): void {
    const { jsonValuesMax, jsonPartValuesMax } = limits.request;
    if (this.#signs > jsonValuesMax) throw tooMany(jsonValuesMax);
    if (this.#partSigns > jsonPartValuesMax) throw tooMany(jsonPartValuesMax, ' in one entry');
    if (this.#outerSigns > jsonPartValuesMax)
      throw tooMany(jsonPartValuesMax, ' outside its lists');
  }

  #open(byte: number): void {
    if (this.#depth === 0) this.#isTopObject = byte === code.open;
    this.#depth += 1;
    if (this.#depth !== 2 || byte !== code.openList || !this.#isTopObject) return;
    this.#listStart = this.#at;
    this.#partStart = this.#at;
    this.#partSigns = 0;
    this.#cuts = [];
  }

  #close(): void {
    this.#depth -= 1;
    if (this.#depth !== 1 || this.#listStart < 0) return;
    const list = { start: this.#listStart, cuts: this.#cuts, end: this.#at };
    if (list.cuts.length > 0) this.lists.push(list);
    else this.#outerSigns += this.#partSigns;
    this.#listStart = -1;
  }

  #cut(): void {
    const { jsonPartBytes, jsonPartValues } = limits.request;
    const isLong = this.#at - this.#partStart > jsonPartBytes || this.#partSigns > jsonPartValues;
    if (!isLong) return;
    this.#cuts.push(this.#at);
    this.#partStart = this.#at;
    this.#partSigns = 0;
  }
}

function isSign(byte: number): boolean {
  return (
    byte === code.comma ||
    byte === code.colon ||
    byte === code.open ||
    byte === code.close ||
    byte === code.openList ||
    byte === code.closeList
  );
}

const formType = 'application/x-www-form-urlencoded';

/**
 * For the server: parses every JSON body this way, and refuses prototype poisoning like the default
 * parser.
 */
export function readJsonBodies(app: FastifyInstance, newMark: () => string): void {
  const parser = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  const read = (request: FastifyRequest, body: Buffer): Promise<unknown> => {
    const parseChecked = (text: string): unknown => {
      let parsed: unknown;
      parser(request, text, (error, value) => {
        if (error) throw error;
        parsed = value;
      });
      return parsed;
    };
    const { isInternal: isTrusted, isRaw } = request.routeOptions.config;
    if (isRaw) return Promise.resolve(body);
    const parse = mayBePoisoned(body) ? parseChecked : parsePlain;
    return readJson(body, { parse, mark: newMark(), isTrusted });
  };
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, read);
  // Git hosts may send signed messages as forms.
  const readForm = async (request: FastifyRequest, body: Buffer): Promise<Buffer> => {
    if (request.routeOptions.config.isRaw) return body;
    throw new Failure('content_type_unsupported', `a body of ${formType} is not taken here`);
  };
  app.addContentTypeParser(formType, { parseAs: 'buffer' }, readForm);
}

/**
 * The default parser refuses poisoned names and skips a byte order mark. It is twice as slow, and
 * few bodies need it.
 */
function mayBePoisoned(body: Buffer): boolean {
  const hasMark = body[0] === 0xef;
  return hasMark || ['__proto__', 'constructor', '\\u00'].some((name) => body.includes(name));
}

function parsePlain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure('bad_request', 'the body is not valid JSON', { cause: error });
  }
}

function tooMany(max: number, where = ''): Failure {
  const message = `the body has more than about ${max} values${where}: split it`;
  return new Failure('payload_too_large', message);
}
