/**
 * The ports of the pipeline, implemented by services: the same steps use them without a difference.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { type Origin, originOf } from '../../kernel/name/origin.ts';
import type { Entity, Extractor, Relation } from '../../pipeline/entity/extraction.ts';
import type { Parser } from '../../pipeline/extract/parsed.ts';
import type { Placed } from '../../pipeline/extract/process/placement.ts';
import type { Fetcher } from '../../pipeline/fetch/http/http.ts';
import { readUrl } from '../../pipeline/fetch/url.ts';
import type { Redirect } from '../../pipeline/fetch/verdict.ts';
import type { Visitor } from '../../pipeline/fetch/visit.ts';
import type { Completer } from '../../provider/completion/completion.ts';
import type { Embedder } from '../../provider/embedding/embedding.ts';
import { priceOf, type Tokens } from '../../provider/prices.ts';
import {
  answered,
  fromWire,
  type HandoffRequest,
  type Reply,
  type WireFailure,
} from '../request.ts';
import { Shape } from '../shape.ts';
import { readAnswer, readParsed, readRobots, readShown, visitRequest } from '../visit-wire.ts';

/** Sends a request for one step of one item. */
export type Ask = (request: HandoffRequest, signal?: AbortSignal) => Promise<Reply>;

type Scratch = Map<string, unknown>;

const none = new Uint8Array();

export function remoteVisitor(ask: Ask, scratch: Scratch): Visitor {
  return async ({ source, validators, robots, areRecordingsTaken = false, signal }) => {
    const stored = await robots.stored(readUrl(source).origin);
    const request = visitRequest({
      source,
      validators,
      areRecordingsTaken,
      isParsed: true,
      robots: stored,
    });
    const { value, bytes = none, failure } = await ask({ kind: 'visit', request }, signal);
    const shape = new Shape(value, 'visit');
    const learned = shape.part('robots');
    if (learned) robots.adopt(readRobots(learned));
    const told = shape.part('answer');
    const answer = told && readAnswer(told, bytes);
    if (failure) return { answer, failure };
    if (!answer) throw new Failure('step_output_invalid', 'a visit came back without a response');
    const shown = shape.part('shown');
    if (!shown) return { answer };
    const text = shape.part('parsed') ?? shape.part('parseFailure');
    if (text) scratch.set('read', value);
    return { answer, shown: readShown(shown, answer) };
  };
}

/** Robots.txt and sitemaps: each redirect is checked here before it is requested. */
export function remoteFetcher(ask: Ask): Fetcher {
  return {
    get: async ({ url: first, accept, bounds, redirectsMax, beforeHop, signal }) => {
      const { wireBytesMax, bytesMax, beyond } = bounds;
      const redirects: Redirect[] = [];
      let url = first;
      for (;;) {
        await beforeHop?.(url);
        const limits = { wireBytesMax, bytesMax, isCut: beyond === 'cut' };
        const request = { url: url.href, accept, ...limits };
        const { value, bytes = none } = answered(await ask({ kind: 'get', request }, signal));
        const shape = new Shape(value, 'get');
        const answer = shape.part('answer');
        if (answer) return { ...readAnswer(answer, bytes), redirects };
        const next = new URL(shape.text('redirect'));
        const isDowngrade = url.protocol === 'https:' && next.protocol === 'http:';
        redirects.push({ from: url.href, to: next.href, status: 302, isDowngrade });
        if (redirects.length > redirectsMax) {
          throw new Failure('redirect_loop', `${first.host} redirects in a circle or too often`);
        }
        url = next;
      }
    },
  };
}

/** Text that came with the page is used directly; plain text is parsed here. */
export function remoteParser(
  ask: Ask,
  { scratch, here, isHere }: { scratch: Scratch; here: Parser; isHere: IsHere },
): Parser {
  return async (input, signal) => {
    if (isHere(input)) return here(input, signal);
    const held = scratch.get('read');
    const shape = held === undefined ? undefined : new Shape(held, 'visit');
    const parsed = shape?.part('parsed');
    if (parsed) return readParsed(parsed);
    const failure = shape?.part('parseFailure')?.raw as unknown as WireFailure | undefined;
    if (failure) throw fromWire(failure);
    const { bytes, mediaType, source, charset } = input;
    const request = { mediaType, source, charset: charset ?? null };
    const reply = answered(await ask({ kind: 'parse', request, bytes }, signal));
    return readParsed(new Shape(reply.value, 'parse'), reply.bytes);
  };
}

export type IsHere = (input: Placed) => boolean;

/** The description of an embedder. */
export type EmbedderTraits = Pick<Embedder, 'model' | 'meter' | 'origin'>;

/**
 * A model that this process is not configured for, at the recorded address of a corpus. This
 * process sends no text there: only a worker configured for the address does.
 */
export function recordedEmbedder(model: string, url: string): EmbedderTraits {
  const price = priceOf(model.replace(/@\d+$/, ''))?.input;
  return { model, meter: { centsPerMillionTokens: price }, origin: originOf(url, true) };
}

/** The same model as `own`, computed in another process. */
export function remoteEmbedder(ask: Ask, own: EmbedderTraits): Embedder {
  const { model, meter, origin } = own;
  return {
    model,
    meter,
    origin,
    embed: async (texts, signal, keep) => {
      const handoffRequest: HandoffRequest = {
        kind: 'embed',
        request: { model, texts, url: urlOf(origin) },
      };
      const { value, bytes = none } = answered(await ask(handoffRequest, signal));
      const shape = new Shape(value, 'embed');
      const vectors = splitVectors(bytes, shape.number('count'), texts.length);
      const paid = (shape.list('paid') as [number, number][]).flatMap(([place, tokens]) => {
        const [text, vector] = [texts[place], vectors[place]];
        return text === undefined || !vector ? [] : [{ text, vector, tokens }];
      });
      if (paid.length > 0) await keep?.(paid);
      const [tokensIn, costCents] = [shape.number('tokensIn'), shape.number('costCents')];
      return { vectors, tokensIn, costCents };
    },
  };
}

/** The worker sends text to this address, or refuses. */
function urlOf(origin: Origin | undefined): string | null {
  return origin?.url ?? null;
}

function splitVectors(bytes: Uint8Array, count: number, wanted: number): Uint8Array[] {
  const size = count === 0 ? 0 : bytes.length / count;
  if (count !== wanted || !Number.isInteger(size)) {
    throw new Failure('step_output_invalid', `${count} vectors were returned for ${wanted} texts`);
  }
  return Array.from({ length: count }, (_, place) => bytes.slice(place * size, (place + 1) * size));
}

/** Rules and lists, applied in another process. */
export function remoteExtractor(ask: Ask): Extractor {
  return {
    model: undefined,
    extract: async ({ text }, { signal }) => {
      const handoffRequest: HandoffRequest = {
        kind: 'entities',
        request: {},
        bytes: Buffer.from(text),
      };
      const { value } = answered(await ask(handoffRequest, signal));
      const shape = new Shape(value, 'entities');
      const entities = shape.list('entities') as readonly Entity[];
      const relations = shape.list('relations') as readonly Relation[];
      return { extraction: { entities, relations }, detail: {} };
    },
  };
}

export function remoteCompleter(ask: Ask, own: Completer): Completer {
  const { model, prices, origin } = own;
  return {
    model,
    prices,
    origin,
    complete: async (request, signal, keep) => {
      const url = urlOf(origin);
      const handoffRequest: HandoffRequest = { kind: 'complete', request: { model, request, url } };
      const { value } = answered(await ask(handoffRequest, signal));
      const shape = new Shape(value, 'complete');
      const refusal = shape.part('refusal')?.raw as unknown as WireFailure | undefined;
      const outcome = refusal ? fromWire(refusal) : shape.text('text');
      const tokens = (shape.part('tokens')?.raw ?? {}) as unknown as Tokens;
      const isPayer = shape.flag('isPayer');
      if (isPayer) await keep?.({ outcome, tokens });
      return { outcome, tokens, isPayer };
    },
  };
}
