/**
 * What an ingestion would cost, before anything is paid or stored. Files are read, extracted and
 * cut by the very steps that would do it, and nothing of it is written; of many files a sample is
 * read, spread over all of them, and the rest follows from their sizes. Pages that would have to be
 * fetched are not: for them there is a range.
 */
import { stat } from 'node:fs/promises';
import { toFailure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Embedder } from '../provider/embedding.ts';
import type { Reader } from '../store/database.ts';
import { documentIdOf } from '../store/documents.ts';
import { getResults } from '../store/results.ts';
import type { NewSource } from '../store/submit.ts';
import { chunksOf } from './chunk/chunk.ts';
import { inputOf } from './embed/embed.ts';
import { vectorKey } from './embed/embed-texts.ts';
import type { Pipeline, StepContext } from './pipeline.ts';

export interface Range {
  readonly least: number;
  readonly likely: number;
  readonly most: number;
}

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
  /** Null where the price of the model is not known. */
  readonly cents: Range | null;
  readonly seconds: Range;
}

export interface EstimateOptions {
  /** Steps whose blobs go nowhere. */
  readonly pipeline: Pipeline;
  readonly reader: Reader;
  readonly world: World;
  readonly embedder: Embedder;
  readonly tokensPerMinute: number;
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
  const read = extrapolate(looks, await bytesOf(files));
  const found = pagesOf(pages, input.crawlPagesMax);
  const tokens = {
    least: read.tokens.least + found.least * pageTokens.least,
    likely: read.tokens.likely + found.likely * pageTokens.likely,
    most: read.tokens.most + found.most * pageTokens.most,
  };
  const price = options.embedder.meter ? options.embedder.meter.centsPerMillionTokens : 0;
  return {
    model: options.embedder.model,
    documents: mapRange(found, (count) => files.length + count),
    filesRead: looks.length,
    isSampled: looks.length < files.length,
    unchanged: looks.filter(({ outcome }) => outcome === 'unchanged').length,
    unreadable: looks.filter(({ outcome }) => outcome === 'unreadable').length,
    tokens: mapRange(tokens, Math.round),
    tokensSaved: Math.round(read.saved),
    cents: price === undefined ? null : mapRange(tokens, (count) => (count * price) / 1e6),
    seconds: secondsOf(options, { tokens, pages: found, readMs: read.readMs }),
  };
}

const { pageTokens } = limits.estimate;

function mapRange({ least, likely, most }: Range, change: (value: number) => number): Range {
  return { least: change(least), likely: change(likely), most: change(most) };
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
  readonly ms: number;
}

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
): Promise<Pick<Look, 'outcome' | 'tokens' | 'saved'>> {
  const none = { tokens: 0, saved: 0 };
  try {
    const context = contextOf(options, { caller, corpus, source });
    if (source.kind === 'file') await options.pipeline.steps.fetched?.(context);
    const extracted = await options.pipeline.steps.content_extracted?.(context);
    if (extracted?.failure) return { outcome: 'unreadable', ...none };
    if (extracted?.unchanged) return { outcome: 'unchanged', ...none };
    const inputs = ((await chunksOf(context)) ?? []).map(inputOf);
    return { outcome: 'new', ...(await countPaid(options, inputs)) };
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

/** A document that is not there yet, and will not be. */
function contextOf(
  { reader, world }: EstimateOptions,
  { caller, corpus, source }: { caller: string; corpus: string; source: NewSource },
): StepContext {
  const { input } = source;
  const scratch = new Map<string, unknown>();
  if (input) {
    const bytes = new TextEncoder().encode(input.body);
    scratch.set('source', { bytes, mediaType: `text/${input.kind}` });
  }
  return {
    item: {
      id: 0,
      jobId: 0,
      caller,
      corpus,
      documentId: documentIdOf(caller, corpus, source.source),
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

async function bytesOf(files: readonly NewSource[]): Promise<{ count: number; bytes: number }> {
  let bytes = 0;
  for (const file of files) bytes += (await sizeOf(file)) ?? 0;
  return { count: files.length, bytes };
}

/** Tokens follow the bytes; how far they stray from it in the sample is how far they may stray. */
function extrapolate(looks: readonly Look[], all: { count: number; bytes: number }) {
  const sum = (name: 'bytes' | 'tokens' | 'saved' | 'ms'): number =>
    looks.reduce((total, look) => total + look[name], 0);
  const bytes = sum('bytes');
  const scale = bytes === 0 ? 0 : all.bytes / bytes;
  const rate = bytes === 0 ? 0 : sum('tokens') / bytes;
  const squares = looks.reduce((total, look) => total + (look.tokens - rate * look.bytes) ** 2, 0);
  const spread = looks.length > 1 ? Math.sqrt(squares / (looks.length - 1)) : 0;
  const unseen = 1 - looks.length / Math.max(all.count, 1);
  const error = (all.count / Math.sqrt(Math.max(looks.length, 1))) * spread * Math.sqrt(unseen);
  const likely = sum('tokens') * scale;
  return {
    tokens: { least: Math.max(0, likely - 2 * error), likely, most: likely + 2 * error },
    saved: sum('saved') * scale,
    readMs: sum('ms') * scale,
  };
}

/** The slowest part decides: reading, the provider's pace, or the pace of a site. */
function secondsOf(
  { embedder, tokensPerMinute }: EstimateOptions,
  work: { tokens: Range; pages: Range; readMs: number },
): Range {
  const { domainIntervalMs } = limits.fetch;
  const secondsFor = (tokens: number, pages: number): number => {
    const embedding = embedder.meter ? (tokens / tokensPerMinute) * 60 : 0;
    return Math.max(embedding, (pages * domainIntervalMs) / 1000) + work.readMs / 1000;
  };
  const { tokens, pages } = work;
  return {
    least: secondsFor(tokens.least, pages.least),
    likely: secondsFor(tokens.likely, pages.likely),
    // A site may be slower than we ask of it, and a provider than it promises.
    most: 2 * secondsFor(tokens.most, pages.most),
  };
}
