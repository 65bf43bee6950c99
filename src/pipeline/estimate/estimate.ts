/**
 * Estimates the cost of an ingestion before anything is paid or stored. Files are read, extracted
 * and chunked by the real steps, without writing. Of many files, a sample spread over all of them
 * is read, and the rest is extrapolated by size. Pages are not fetched: for them there is a range.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { costOf, type Tokens } from '../../provider/prices.ts';
import type { NewSource } from '../../store/job/submit.ts';
import { type EstimateInput, type EstimateOptions, type Look, lookAt, sizeOf } from './inspect.ts';
import { extrapolate, mapRange, type Range, sumOf, type Total, timesOf } from './range.ts';

export type { EstimateInput, EstimateOptions } from './inspect.ts';

export interface Estimate {
  readonly model: string;
  /** Named documents, including attachments of mails, and pages that may be found. */
  readonly documents: Range;
  readonly filesRead: number;
  /** Whether the figures are extrapolated from a sample. */
  readonly isSampled: boolean;
  /** Of the files read: already in the corpus as they are, or without usable text. */
  readonly unchanged: number;
  readonly unreadable: number;
  /** Tokens of all texts to embed, and those that were paid for before. */
  readonly tokens: Range;
  readonly tokensSaved: number;
  /** The requests to the entity model; null if rules find entities. */
  readonly extraction: ExtractionEstimate | null;
  /** The total. Null if the price of a model is unknown. */
  readonly cents: Range | null;
  readonly seconds: Range;
}

export interface ExtractionEstimate {
  readonly model: string;
  readonly tokensIn: Range;
  readonly tokensOut: Range;
  readonly tokensSaved: number;
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
  const attached = mapRange(
    extrapolate(looks, all, ({ attached }) => attached),
    Math.round,
  );
  return {
    model: options.embedder.model,
    documents: sumOf(
      attached,
      mapRange(found, (count) => files.length + count),
    ),
    filesRead: looks.length,
    isSampled: looks.length < files.length,
    unchanged: looks.filter(({ outcome }) => outcome === 'unchanged').length,
    unreadable: looks.filter(({ outcome }) => outcome === 'unreadable').length,
    tokens: mapRange(tokens, Math.round),
    tokensSaved: Math.round(extrapolate(looks, all, ({ saved }) => saved).likely),
    extraction: extractionOf(options, asked),
    cents: centsOf(options, tokens, asked),
    seconds: secondsOf(options, {
      tokens,
      asked,
      pages: found,
      readMs: extrapolate(looks, all, ({ ms }) => ms).likely,
    }),
  };
}

const { pageTokens } = limits.estimate;

/** Requests to the extractor for files and pages. */
interface ExtractionRequests {
  readonly input: Range;
  readonly output: Range;
  readonly saved: number;
}

function askedOf(
  { extractor }: EstimateOptions,
  { looks, all, found }: { looks: readonly Look[]; all: Total; found: Range },
): ExtractionRequests {
  /** A page that was not read counts as one passage. */
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
  { input, output, saved }: ExtractionRequests,
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
  { input, output }: ExtractionRequests,
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

/** Evenly spread, so that no folder is missed. */
function sampleOf(files: readonly NewSource[]): NewSource[] {
  const count = Math.min(files.length, limits.estimate.filesReadMax);
  return Array.from(
    { length: count },
    (_, index) => files[Math.floor((index * files.length) / count)] as NewSource,
  );
}

async function bytesOf(files: readonly NewSource[]): Promise<number> {
  let bytes = 0;
  for (const file of files) bytes += (await sizeOf(file)) ?? 0;
  return bytes;
}

/** The slowest part decides: reading, the provider's rate limit, or that of a site. */
function secondsOf(
  { embedder, tokensPerMinute }: EstimateOptions,
  work: { tokens: Range; asked: ExtractionRequests; pages: Range; readMs: number },
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
    // A site or a provider may be slower than expected.
    most: 2 * secondsAt('most'),
  };
}
