/**
 * Reads the result of a callback into the form that steps use. Pawl's workers send that form;
 * others may send the responses of `POST /scrape` and `POST /embed` (docs/guide/services.md).
 * Everything else is refused before it is stored, and the request stays open: the document is not
 * affected.
 */
import { Failure, toFailure } from '../kernel/failure/failure.ts';
import { entityKinds } from '../pipeline/entity/extraction.ts';
import { toSignedBytes } from '../provider/embedding/vector-bytes.ts';
import type { Payload } from './payload.ts';
import { isRequestKind, type Json, type RequestKind } from './request.ts';
import { Shape } from './shape.ts';
import { readAnswer, readParsed, readRobots, readShown } from './visit-wire.ts';

/** The request that is being answered. */
export interface AnsweredRequest {
  readonly kind: string;
  readonly request: Json;
}

export type ReadResult = (request: AnsweredRequest, payload: Payload) => Payload;

/** Throws `bad_request` with what is missing. */
export const readResult: ReadResult = ({ kind, request }, payload) => {
  // Bytes in the blob store are checked by the step that uses them.
  if (!isRequestKind(kind) || typeof payload.value.blob === 'string') return payload;
  try {
    return readers[kind](payload, request);
  } catch (error) {
    const { code, message } = toFailure(error);
    if (code === 'bad_request') throw error;
    throw new Failure('bad_request', `the result of ${kind} is invalid: ${message}`, {
      cause: error,
    });
  }
};

type Reader = (payload: Payload, request: Json) => Payload;

const readers: Readonly<Record<RequestKind, Reader>> = {
  visit: (payload, request) =>
    'answer' in payload.value ? checkVisit(payload) : page(payload, request),
  get: (payload, request) => {
    const isOwn = 'answer' in payload.value || 'redirect' in payload.value;
    return isOwn ? checkGet(payload) : page(payload, request);
  },
  parse: ({ value, bytes }) => {
    const told = { ...value, markdown: markdownOf(value) };
    readParsed(new Shape(told, 'result'), bytes);
    return { value: told, bytes };
  },
  embed: (payload, request) => {
    const texts = new Shape(request, 'embed').texts('texts');
    return 'embeddings' in payload.value
      ? vectors(payload.value, { texts, model: request.model })
      : checkVectors(payload, texts.length);
  },
  entities: ({ value }) => ({ value: extraction(value) }),
  complete: (payload) => {
    const shape = new Shape(payload.value, 'result');
    if (!shape.part('refusal')) shape.text('text');
    const { tokens = noTokens, isPayer = 'tokens' in payload.value } = payload.value;
    for (const name of ['input', 'output']) new Shape(tokens, 'result.tokens').number(name);
    return { value: { ...payload.value, tokens, isPayer } };
  },
};

const noTokens = { input: 0, output: 0 };

function checkVisit(payload: Payload): Payload {
  const shape = new Shape(payload.value, 'result');
  const told = shape.part('answer');
  if (!told) throw missing('answer', 'the response of the site');
  const answer = readAnswer(told, payload.bytes ?? new Uint8Array());
  const [shown, robots, parsed] = ['shown', 'robots', 'parsed'].map((name) => shape.part(name));
  if (shown) readShown(shown, answer);
  if (robots) readRobots(robots);
  if (parsed) readParsed(parsed);
  return payload;
}

function checkGet(payload: Payload): Payload {
  const shape = new Shape(payload.value, 'result');
  const told = shape.part('answer');
  if (told) readAnswer(told, payload.bytes ?? new Uint8Array());
  else void new URL(shape.text('redirect'));
  return payload;
}

/** The response of `POST /scrape`: the text of a page, optionally with the page itself. */
function page({ value, bytes }: Payload, request: Json): Payload {
  const shape = new Shape(value, 'result');
  const asked = typeof request.source === 'string' ? request.source : String(request.url ?? '');
  const url = new URL(shape.textOrNull('final_url') ?? shape.textOrNull('url') ?? asked);
  const status = value.status === undefined ? 200 : shape.number('status');
  if (status < 200 || status > 299) {
    throw missing('status', 'one of success; a page that could not be read is `failed`');
  }
  if (bytes && typeof value.media_type !== 'string') {
    throw missing('media_type', 'the type of the bytes');
  }
  const isText = typeof value.markdown === 'string' || typeof value.text === 'string';
  const markdown = bytes && !isText ? undefined : markdownOf(value);
  const mediaType = bytes ? shape.text('media_type') : 'text/markdown';
  const content = bytes ?? Buffer.from(markdown ?? '');
  const headers = [['content-type', mediaType]];
  const answer = { url: url.href, status, headers, wireBytes: content.length, redirects: [] };
  const parsed = markdown === undefined ? undefined : parsedOf({ ...value, markdown });
  return {
    value: {
      answer: { ...answer, isCut: false },
      shown: { mediaType, charset: bytes ? null : 'utf-8', isRendered: false, detail: {} },
      ...(parsed && { parsed }),
    },
    bytes: content,
  };
}

function parsedOf(value: Json): Json {
  const { title, language, markdown, meta, metadata } = readParsed(new Shape(value, 'result'));
  return { title, language, markdown, meta, ...(metadata && { metadata }) };
}

function markdownOf({ markdown, text }: Json): string {
  const found = markdown ?? text;
  if (typeof found === 'string' && found.trim() !== '') return found;
  throw missing('markdown', 'the extracted text, as Markdown (or `text`, as plain text)');
}

/** The response of `POST /embed`. */
function vectors(
  value: Json,
  { texts, model }: { readonly texts: readonly string[]; readonly model: unknown },
): Payload {
  const shape = new Shape(value, 'result');
  const all = shape.list('embeddings') as readonly unknown[];
  const dimensions = Array.isArray(all[0]) ? all[0].length : 0;
  const isRight = all.every((one) => isVector(one, dimensions)) && all.length === texts.length;
  if (!isRight || dimensions === 0) {
    const form = `a list of numbers for each of the ${texts.length} texts, all of one length`;
    throw missing('embeddings', form);
  }
  if (typeof value.model === 'string' && value.model !== model) {
    const message = `the texts must be embedded with ${model}, not with ${value.model}`;
    throw new Failure('bad_request', message);
  }
  const tokensIn = value.tokens === undefined ? 0 : shape.number('tokens');
  const costCents = value.cost_cents === undefined ? 0 : shape.number('cost_cents');
  const each = Math.floor(tokensIn / texts.length);
  const paid = texts.map((_, place) => [
    place,
    place === 0 ? tokensIn - each * (texts.length - 1) : each,
  ]);
  return {
    value: { model, count: texts.length, tokensIn, costCents, paid: tokensIn > 0 ? paid : [] },
    bytes: Buffer.concat((all as number[][]).map((one) => toSignedBytes(one))),
  };
}

function isVector(value: unknown, dimensions: number): boolean {
  return Array.isArray(value) && value.length === dimensions && value.every(Number.isFinite);
}

function checkVectors(payload: Payload, count: number): Payload {
  const shape = new Shape(payload.value, 'result');
  if (!('count' in payload.value)) throw missing('embeddings', 'a list of numbers for each text');
  const size = payload.bytes?.length ?? 0;
  if (shape.number('count') !== count || (count > 0 && (size === 0 || size % count !== 0))) {
    throw missing('embeddings', `the vectors of ${count} texts`);
  }
  for (const name of ['tokensIn', 'costCents']) shape.number(name);
  shape.list('paid');
  return payload;
}

function extraction(value: Json): Json {
  const shape = new Shape(value, 'result');
  const entities = shape.list('entities').map((each, place) => {
    const one = new Shape(each, `result.entities[${place}]`);
    const kind = one.text('kind');
    if (!(entityKinds as readonly string[]).includes(kind)) {
      throw missing(`entities[${place}].kind`, `one of ${entityKinds.join(', ')}`);
    }
    const { aliases = [], mentions = [] } = one.raw;
    const told = new Shape({ aliases, mentions }, `result.entities[${place}]`);
    const at = told.list('mentions').map((mention) => {
      const spot = new Shape(mention, `result.entities[${place}].mentions`);
      const [start, end] = [spot.number('start'), spot.number('end')];
      return { start, end, passage: spot.number('passage') };
    });
    return { kind, name: one.text('name'), aliases: told.texts('aliases'), mentions: at };
  });
  const { relations = [] } = value;
  const found = new Shape({ relations }, 'result').list('relations').map((each) => {
    const one = new Shape(each, 'result.relations');
    const pair = { one: one.number('one'), other: one.number('other') };
    if (!entities[pair.one] || !entities[pair.other]) {
      throw missing('relations', 'pairs of indexes in the list of entities');
    }
    return { ...pair, weight: one.number('weight') };
  });
  return { entities, relations: found };
}

function missing(name: string, form: string): Failure {
  const message = `result.${name} is missing or has the wrong form: it must be ${form}`;
  return new Failure('bad_request', `${message}; see docs/guide/services.md`);
}

/** The kinds of requests of a stage that a result can answer. */
export function kindsOf(value: Json): ((kind: string) => boolean) | undefined {
  if ('embeddings' in value || 'count' in value) return (kind) => kind === 'embed';
  if ('entities' in value) return (kind) => kind === 'entities';
  return undefined;
}
