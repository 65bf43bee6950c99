/**
 * What an ingestion would cost, before anything is paid or stored. Files are read, extracted and
 * cut by the very steps that would do it, and nothing of it is written; of many files a sample is
 * read, spread over all of them, and the rest follows from their sizes. Pages that would have to be
 * fetched are not: for them there is a range.
 */
import { stat } from 'node:fs/promises';
import { placeOf } from '../kernel/corpus-name.ts';
import { toFailure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Embedder } from '../provider/embedding.ts';
import { costOf, type Tokens } from '../provider/prices.ts';
import type { Reader } from '../store/database.ts';
import { documentIdOf } from '../store/documents.ts';
import { getResults } from '../store/results.ts';
import type { NewSource } from '../store/submit.ts';
import { chunksOf } from './chunk/chunk.ts';
import { inputOf } from './embed/embed.ts';
import { vectorKey } from './embed/embed-texts.ts';
import type { ExtractionInput, Extractor } from './entity/extraction.ts';
import { extrapolate, mapRange, type Range, sumOf, type Total, timesOf } from './estimate-range.ts';
import { textOf } from './held.ts';
import type { Pipeline, StepContext } from './pipeline.ts';

export interface Estimate {
  readonly model: string;
  /** Documents that were named, and pages that may be found. */
  readonly documents: Range;
  readonly filesRead: number;
  /** The files that were read stand for all of them. */
  readonly isSampled: boolean;
  /** Of those that were read: as they are in the corpus already, or without usable text. */
  readonly unchanged: number;
  readonly unreadable: number;
  /** Tokens of all texts that would be embedded, and those of them that were paid for before. */
  readonly tokens: Range;
  readonly tokensSaved: number;
  /** What a model that finds entities would be asked; null where rules find them. */
  readonly extraction: ExtractionEstimate | null;
  /** All of it. Null where the price of a model is not known. */
  readonly cents: Range | null;
  readonly seconds: Range;
}

export interface ExtractionEstimate {
  readonly model: string;
  readonly tokensIn: Range;
  readonly tokensOut: Range;
  readonly tokensSaved: number;
}

export interface EstimateOptions {
  /** Steps whose blobs go nowhere. */
  readonly pipeline: Pipeline;
  readonly reader: Reader;
  readonly world: World;
  readonly embedder: Embedder;
  /** One that costs something. */
  readonly extractor?: Extractor | undefined;
  readonly tokensPerMinute: { readonly embedder: number; readonly extractor: number };
}

export interface EstimateInput {
  readonly caller: string;
  readonly corpus: string;
  readonly sources: readonly NewSource[];
  /** How many pages a crawl from these sources takes at most. */
  readonly crawlPagesMax?: number | undefined;
}

export async function estimateIngestion(
  options: EstimateOptions,
  input: EstimateInput,
): Promise<Estimate> {
  const pages = input.sources.filter(({ kind }) => kind === 'url').length;
  const files = input.sources.filter(({ kind }) => kind !== 'url');
  const looks = await lookAt(options, input, sampleOf(files));
  const all = { count: files.length, bytes: await bytesOf(files) };
  const found = pagesOf(pages, input.crawlPagesMax);
  const tokens = sumOf(
    extrapolate(looks, all, ({ tokens }) => tokens),
    timesOf(found, pageTokens),
  );
  const asked = askedOf(options, { looks, all, found });
  return {
    model: options.embedder.model,
    documents: mapRange(found, (count) => files.length + count),
    filesRead: looks.length,
    isSampled: looks.length < files.length,
    unchanged: looks.filter(({ outcome }) => outcome === 'unchanged').length,
    unreadable: looks.filter(({ outcome }) => outcome === 'unreadable').length,
    tokens: mapRange(tokens, Math.round),
    tokensSaved: Math.round(extrapolate(looks, all, ({ saved }) => saved).likely),
    extraction: extractionOf(options, asked),
    cents: centsOf(options, tokens, asked),
    seconds: secondsOf(options, {
      ...{ tokens, asked, pages: found },
      readMs: extrapolate(looks, all, ({ ms }) => ms).likely,
    }),
  };
}

const { pageTokens } = limits.estimate;

/** What the extractor would be asked about files and pages. */
interface Asked {
  readonly input: Range;
  readonly output: Range;
  readonly saved: number;
}

function askedOf(
  { extractor }: EstimateOptions,
  { looks, all, found }: { looks: readonly Look[]; all: Total; found: Range },
): Asked {
  /** A page that was not read is asked about as one passage. */
  const ofPage = (of: keyof Tokens): Range =>
    mapRange(pageTokens, (tokenCount) => {
      const endOffset = tokenCount * charactersPerToken;
      const piece = { startOffset: 0, endOffset, tokenCount };
      const page = { text: ' '.repeat(endOffset), pieces: [piece] };
      return extractor?.meter?.questionsOf(page)[0]?.tokens[of] ?? 0;
    });
  const rangeOf = (of: keyof Tokens): Range =>
    sumOf(
      extrapolate(looks, all, ({ asked }) => asked[of]),
      timesOf(found, ofPage(of)),
    );
  const { likely: saved } = extrapolate(looks, all, ({ askedBefore }) => askedBefore);
  return { input: rangeOf('input'), output: rangeOf('output'), saved };
}

const charactersPerToken = 4;

function extractionOf(
  { extractor }: EstimateOptions,
  { input, output, saved }: Asked,
): ExtractionEstimate | null {
  if (!extractor?.meter || extractor.model === undefined) return null;
  return {
    model: extractor.model,
    tokensIn: mapRange(input, Math.round),
    tokensOut: mapRange(output, Math.round),
    tokensSaved: Math.round(saved),
  };
}

function centsOf(
  { embedder, extractor }: EstimateOptions,
  tokens: Range,
  { input, output }: Asked,
): Range | null {
  const price = embedder.meter ? embedder.meter.centsPerMillionTokens : 0;
  const prices = extractor?.meter ? extractor.meter.prices : { input: 0, output: 0 };
  if (price === undefined || !prices) return null;
  const ofAll = (at: keyof Range): number =>
    costOf({ input: tokens[at] }, { input: price, output: 0 }) +
    costOf({ input: input[at], output: output[at] }, prices);
  return { least: ofAll('least'), likely: ofAll('likely'), most: ofAll('most') };
}

function pagesOf(named: number, crawlPagesMax: number | undefined): Range {
  if (crawlPagesMax === undefined) return { least: named, likely: named, most: named };
  const least = Math.min(limits.estimate.crawlPagesLeast, crawlPagesMax);
  return { least, likely: crawlPagesMax, most: crawlPagesMax };
}

/** Evenly spread, so that no folder is left out. */
function sampleOf(files: readonly NewSource[]): NewSource[] {
  const count = Math.min(files.length, limits.estimate.filesReadMax);
  return Array.from(
    { length: count },
    (_, index) => files[Math.floor((index * files.length) / count)] as NewSource,
  );
}

interface Look {
  readonly outcome: 'new' | 'unchanged' | 'unreadable';
  readonly bytes: number;
  /** Tokens that would be paid for, and those that were before. */
  readonly tokens: number;
  readonly saved: number;
  /** The same of what a model would be asked for entities. */
  readonly asked: Tokens;
  readonly askedBefore: number;
  readonly ms: number;
}

type Paid = Pick<Look, 'tokens' | 'saved' | 'asked' | 'askedBefore'>;

async function lookAt(
  options: EstimateOptions,
  input: EstimateInput,
  files: readonly NewSource[],
): Promise<Look[]> {
  const looks: Look[] = [];
  for (const source of files) {
    const startedAt = options.world.now();
    const look = await lookAtOne(options, input, source);
    const bytes = (await sizeOf(source)) ?? 0;
    looks.push({ ...look, bytes, ms: options.world.now() - startedAt });
  }
  return looks;
}

async function lookAtOne(
  options: EstimateOptions,
  { caller, corpus }: EstimateInput,
  source: NewSource,
): Promise<Pick<Look, 'outcome'> & Paid> {
  const none: Paid = { tokens: 0, saved: 0, asked: { input: 0, output: 0 }, askedBefore: 0 };
  try {
    const context = contextOf(options, { caller, corpus, source });
    if (source.kind === 'file') await options.pipeline.steps.fetched?.(context);
    const extracted = await options.pipeline.steps.content_extracted?.(context);
    if (extracted?.failure) return { outcome: 'unreadable', ...none };
    if (extracted?.unchanged) return { outcome: 'unchanged', ...none };
    const pieces = (await chunksOf(context)) ?? [];
    const held = await textOf(context);
    return {
      outcome: 'new',
      ...(await countPaid(options, pieces.map(inputOf))),
      ...(await countAsked(options, { text: held?.body ?? '', pieces })),
    };
  } catch (error) {
    // It would end in the inbox, and cost nothing; a defect of ours is not hidden behind that.
    const failure = toFailure(error);
    if (failure.code === 'internal_error') throw failure;
    return { outcome: 'unreadable', ...none };
  }
}

async function countPaid(
  { embedder, reader }: EstimateOptions,
  inputs: readonly { text: string; tokens: number }[],
): Promise<{ tokens: number; saved: number }> {
  const keys = inputs.map(({ text }) => vectorKey(embedder.model, text));
  const known = embedder.meter ? await getResults(reader, keys) : new Map();
  const seen = new Set<string>();
  const sum = { tokens: 0, saved: 0 };
  inputs.forEach(({ tokens }, index) => {
    const key = keys[index] as string;
    const isPaid = known.has(key) || (embedder.meter !== undefined && seen.has(key));
    seen.add(key);
    if (isPaid) sum.saved += tokens;
    else sum.tokens += tokens;
  });
  return sum;
}

async function countAsked(
  { extractor, reader }: EstimateOptions,
  input: ExtractionInput,
): Promise<Pick<Look, 'asked' | 'askedBefore'>> {
  const questions = extractor?.meter?.questionsOf(input) ?? [];
  const keys = questions.map(({ key }) => key);
  const known = new Set(keys.length > 0 ? (await getResults(reader, keys)).keys() : []);
  let [inputTokens, outputTokens, askedBefore] = [0, 0, 0];
  for (const { key, tokens } of questions) {
    if (known.has(key)) askedBefore += tokens.input + tokens.output;
    else {
      inputTokens += tokens.input;
      outputTokens += tokens.output;
    }
    known.add(key);
  }
  return { asked: { input: inputTokens, output: outputTokens }, askedBefore };
}

/** A document that is not there yet, and will not be. */
function contextOf(
  { reader, world }: EstimateOptions,
  { caller, corpus, source }: { caller: string; corpus: string; source: NewSource },
): StepContext {
  const { input } = source;
  const place = placeOf({ caller, corpus });
  const scratch = new Map<string, unknown>();
  if (input) {
    const bytes = new TextEncoder().encode(input.body);
    scratch.set('source', { bytes, mediaType: `text/${input.kind}` });
  }
  return {
    item: {
      id: 0,
      jobId: 0,
      ...place,
      payer: { caller, corpus },
      documentId: documentIdOf(place.caller, place.corpus, source.source),
      // What is at hand is extracted as a file is.
      sourceKind: 'file',
      source: source.source,
      gate: null,
      force: false,
      attempt: 1,
    },
    world,
    reader,
    signal: new AbortController().signal,
    scratch,
    progress: () => undefined,
  };
}

async function sizeOf({ source, input }: NewSource): Promise<number | undefined> {
  if (input) return Buffer.byteLength(input.body);
  try {
    return (await stat(source)).size;
  } catch {
    // It was named a moment ago; what is gone since has no size, and would cost nothing.
    return undefined;
  }
}

async function bytesOf(files: readonly NewSource[]): Promise<number> {
  let bytes = 0;
  for (const file of files) bytes += (await sizeOf(file)) ?? 0;
  return bytes;
}

/** The slowest part decides: reading, the provider's pace, or the pace of a site. */
function secondsOf(
  { embedder, tokensPerMinute }: EstimateOptions,
  work: { tokens: Range; asked: Asked; pages: Range; readMs: number },
): Range {
  const { domainIntervalMs } = limits.fetch;
  const secondsAt = (at: keyof Range): number => {
    const embedding = embedder.meter ? (work.tokens[at] / tokensPerMinute.embedder) * 60 : 0;
    const asked = work.asked.input[at] + work.asked.output[at];
    const extraction = (asked / tokensPerMinute.extractor) * 60;
    const reading = (work.pages[at] * domainIntervalMs) / 1000;
    return Math.max(embedding, extraction, reading) + work.readMs / 1000;
  };
  return {
    least: secondsAt('least'),
    likely: secondsAt('likely'),
    // A site may be slower than we ask of it, and a provider than it promises.
    most: 2 * secondsAt('most'),
  };
}
