/**
 * The work of services: request in, reply out. Queue consumers and the synchronous routes run the
 * same functions; neither uses a database.
 */
import { Failure, isRetried, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { isSameHost, type Origin } from '../../kernel/name/origin.ts';
import type { World } from '../../kernel/world.ts';
import type { Extractor } from '../../pipeline/entity/extraction.ts';
import type { Parsed, ParseInput, Parser } from '../../pipeline/extract/parsed.ts';
import type { Rendering } from '../../pipeline/fetch/browser/visible-page.ts';
import type { Fetcher } from '../../pipeline/fetch/http/http.ts';
import { isRecording } from '../../pipeline/fetch/http/media-type.ts';
import { RobotsCheck } from '../../pipeline/fetch/robots/robots-check.ts';
import { readUrl } from '../../pipeline/fetch/url.ts';
import { visitor } from '../../pipeline/fetch/visit.ts';
import type { Completer, CompletionRequest } from '../../provider/completion/completion.ts';
import type { Embedder, PaidVector } from '../../provider/embedding/embedding.ts';
import {
  type HandoffRequest,
  type Json,
  type Reply,
  type RequestKind,
  toWire,
} from '../request.ts';
import { Shape } from '../shape.ts';
import { answerWire, parsedWire, readVisitRequest, robotsWire, shownWire } from '../visit-wire.ts';

export interface WorkContext {
  readonly signal: AbortSignal;
  progress(done: number, total: number): void;
}

export type Work = (question: HandoffRequest, context: WorkContext) => Promise<Reply>;
export type Works = Readonly<Partial<Record<RequestKind, Work>>>;

export interface ScraperTools {
  readonly fetcher: Fetcher;
  readonly rendering?: Rendering | undefined;
  readonly parser: Parser;
  readonly world: World;
}

export function scraperWorks(tools: ScraperTools): Works {
  return {
    visit: ({ request }, { signal }) => visit(request, tools, signal),
    get: ({ request }, { signal }) => getBeside(request, tools, signal),
    parse: async ({ request, bytes }, { signal }) => {
      const shape = new Shape(request, 'parse');
      const charset = shape.textOrNull('charset') ?? undefined;
      if (!bytes) throw new Failure('source_missing', 'there are no bytes to parse');
      const input = { bytes, charset, mediaType: shape.text('mediaType') };
      return parsedWire(await tools.parser({ ...input, source: shape.text('source') }, signal));
    },
  };
}

async function visit(request: Json, tools: ScraperTools, signal: AbortSignal): Promise<Reply> {
  const { fetcher, rendering, world } = tools;
  const { source, robots: row, isParsed, ...asked } = readVisitRequest(request);
  const now = world.now();
  const robots = new RobotsCheck({
    fetcher,
    signal,
    now,
    stored: async (origin) => (row?.origin === origin ? row : undefined),
  });
  const came = await visitor({ fetcher, rendering })({ ...asked, source, robots, now, signal });
  const { answer, shown, failure } = came;
  const bytes = shown?.content.bytes;
  const value = {
    answer: answer ? answerWire(answer) : null,
    shown: shown ? shownWire(shown) : null,
    robots: robotsWire(robots),
  };
  if (!shown || !isParsed || isRecording(shown.content.mediaType)) return { value, bytes, failure };
  const { mediaType, charset } = shown.content;
  const input = { bytes: shown.content.bytes, mediaType, source };
  const text = { charset: charset === undefined ? undefined : 'utf-8' };
  const parsed = await parsedOf({ ...input, ...text }, tools.parser, signal);
  return { value: { ...value, ...parsed }, bytes };
}

/**
 * The text, or why there is none; undefined if a retry may succeed. The files of a mail are
 * requested separately: a visit returns only the bytes of the page.
 */
async function parsedOf(
  input: ParseInput,
  parser: Parser,
  signal: AbortSignal,
): Promise<{ parsed?: Parsed; parseFailure?: Json }> {
  try {
    const parsed = await parser(input, signal);
    return (parsed.attachments ?? []).length > 0 ? {} : { parsed };
  } catch (error) {
    signal.throwIfAborted();
    const failure = toFailure(error);
    return isRetried(failure.code) ? {} : { parseFailure: { ...toWire(failure) } };
  }
}

async function getBeside(
  request: Json,
  { fetcher }: ScraperTools,
  signal: AbortSignal,
): Promise<Reply> {
  const shape = new Shape(request, 'get');
  const url = readUrl(shape.text('url'));
  const bounds = {
    wireBytesMax: shape.number('wireBytesMax'),
    bytesMax: shape.number('bytesMax'),
    beyond: shape.flag('isCut') ? 'cut' : 'fail',
  } as const;
  let next: URL | undefined;
  try {
    const answer = await fetcher.get({
      url,
      signal,
      bounds,
      accept: shape.text('accept'),
      redirectsMax: limits.fetch.redirectsMax,
      beforeHop: async (hop) => {
        if (hop.href === url.href) return;
        // The orchestrator checks a redirect before it is followed.
        next = hop;
        throw new Error(`redirected to ${hop.host}`);
      },
    });
    return { value: { answer: answerWire(answer) }, bytes: answer.bytes };
  } catch (error) {
    if (next) return { value: { redirect: next.href } };
    throw error;
  }
}

/** This process lacks the settings for the request. Another worker may have them. */
export class Unconfigured extends Failure {
  constructor(model: string, variable: string) {
    const message = `${model} is not configured in this service: set ${variable} to it`;
    super('provider_bad_request', message);
  }
}

export interface EmbeddingTools {
  /** For texts meant for this address; undefined: any configured address. */
  readonly embedderOf: (model: string, url: string | undefined) => Embedder;
  /** Whether the model is configured in this process. */
  readonly isConfigured: (model: string) => boolean;
  /** Rules and lists. */
  readonly extractor: Extractor;
  /** The model that extracts entities, if one is configured. */
  readonly completer?: Completer | undefined;
}

export function embeddingWorks(tools: EmbeddingTools): Works {
  const { embedderOf, isConfigured, extractor, completer } = tools;
  return {
    embed: async ({ request }, { signal }) => {
      const shape = new Shape(request, 'embed');
      const model = shape.text('model');
      if (!isConfigured(model)) throw new Unconfigured(model, 'PAWL_EMBEDDER');
      return embed(shape.texts('texts'), embedderOf(model, urlIn(shape)), signal);
    },
    entities: async ({ bytes = new Uint8Array() }, { signal, progress }) => {
      const text = new TextDecoder().decode(bytes);
      const context = { item: nobody, signal, progress };
      const { extraction } = await extractor.extract({ text, pieces: [] }, context);
      return { value: { ...extraction } };
    },
    complete: async ({ request }, { signal }) => {
      if (!completer || completer.model !== request.model) {
        throw new Unconfigured(String(request.model), 'PAWL_EXTRACTOR');
      }
      const shape = new Shape(request, 'complete');
      checkAddress(completer, urlIn(shape));
      const asked = shape.part('request')?.raw as unknown as CompletionRequest;
      const { outcome, tokens, isPayer } = await completer.complete(asked, signal);
      const told = typeof outcome === 'string' ? { text: outcome } : { refusal: toWire(outcome) };
      return { value: { ...told, tokens, isPayer } };
    },
  };
}

/** Absent in requests of an older orchestrator. */
function urlIn(shape: Shape): string | undefined {
  return shape.textOrNull('url') ?? undefined;
}

interface Addressed {
  readonly model: string;
  readonly origin?: Origin | undefined;
}

/** The orchestrator requested one host: its texts are not sent to another. */
export function checkAddress({ model, origin }: Addressed, url: string | undefined): void {
  if (url === undefined || (origin && isSameHost(origin.url, url))) return;
  const here = origin ? `is configured at ${origin.url}` : 'runs it locally';
  const message = `the text is meant for ${model} at ${url}, and this service ${here}`;
  throw new Failure('origin_not_configured', `${message}: set the same address in both`);
}

/** Rules need no item to find entities. */
const nobody = {
  id: 0,
  jobId: 0,
  caller: '',
  corpus: '',
  documentId: '',
  sourceKind: '',
  source: '',
  gate: null,
  force: false,
  attempt: 1,
  payer: { caller: '', corpus: '' },
};

async function embed(
  texts: readonly string[],
  embedder: Embedder,
  signal: AbortSignal,
): Promise<Reply> {
  const paid: PaidVector[] = [];
  const keep = async (answers: readonly PaidVector[]): Promise<void> => void paid.push(...answers);
  const { vectors, tokensIn, costCents } = await embedder.embed(texts, signal, keep);
  const places = new Map(texts.map((text, index) => [text, index]));
  return {
    value: {
      model: embedder.model,
      count: vectors.length,
      tokensIn,
      costCents,
      paid: paid.map(({ text, tokens }) => [places.get(text) ?? -1, tokens]),
    },
    bytes: Buffer.concat(vectors),
  };
}
