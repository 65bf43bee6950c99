/**
 * Inspects single files for an estimate: the cost of reading, embedding and extracting each.
 * Attachments of a mail are inspected with it.
 */
import { stat } from 'node:fs/promises';
import { toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { attachmentSource } from '../../kernel/name/attachment.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import type { World } from '../../kernel/world.ts';
import type { Embedder } from '../../provider/embedding/embedding.ts';
import type { Tokens } from '../../provider/prices.ts';
import { documentIdFor } from '../../store/document/names.ts';
import type { Reader } from '../../store/driver/database.ts';
import type { NewSource } from '../../store/job/submit.ts';
import { getResults } from '../../store/money/paid-answers.ts';
import { chunksOf } from '../chunk/chunk.ts';
import { inputOf } from '../embed/embed.ts';
import { vectorKey } from '../embed/embed-texts.ts';
import type { ExtractionInput, Extractor } from '../entity/extraction.ts';
import { typed } from '../fetch/fetch.ts';
import type { Pipeline, StepContext } from '../pipeline.ts';
import { askForFiles, filesOf, textOf } from '../step-memory.ts';

export interface EstimateOptions {
  /** Steps whose blobs are discarded. */
  readonly pipeline: Pipeline;
  readonly reader: Reader;
  readonly world: World;
  readonly embedder: Embedder;
  /** A paid extractor. */
  readonly extractor?: Extractor | undefined;
  readonly tokensPerMinute: { readonly embedder: number; readonly extractor: number };
}

export interface EstimateInput {
  readonly caller: string;
  readonly corpus: string;
  readonly sources: readonly NewSource[];
  /** The maximum number of pages of a crawl from these sources. */
  readonly crawlPagesMax?: number | undefined;
}

export interface Look {
  readonly outcome: 'new' | 'unchanged' | 'unreadable';
  readonly bytes: number;
  /** Attachments of the mail, including those of nested mails. */
  readonly attached: number;
  /** Tokens to pay for, and those paid before. */
  readonly tokens: number;
  readonly saved: number;
  /** The same for the entity model. */
  readonly asked: Tokens;
  readonly askedBefore: number;
  readonly ms: number;
}

type Paid = Pick<Look, 'attached' | 'tokens' | 'saved' | 'asked' | 'askedBefore'>;

export async function lookAt(
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

const none: Paid = {
  attached: 0,
  tokens: 0,
  saved: 0,
  askedBefore: 0,
  asked: { input: 0, output: 0 },
};

async function lookAtOne(
  options: EstimateOptions,
  { caller, corpus }: EstimateInput,
  source: NewSource,
): Promise<Pick<Look, 'outcome'> & Paid> {
  const context = await contextOf(options, { caller, corpus, source });
  const fetch = async () => {
    if (source.kind === 'file') await options.pipeline.steps.fetched?.(context);
  };
  return lookInto(options, { context, fetch, depth: 0 });
}

interface Looking {
  readonly context: StepContext;
  /** Leaves the bytes in the context. */
  readonly fetch: () => Promise<void>;
  /** The nesting depth in mails. */
  readonly depth: number;
}

async function lookInto(
  options: EstimateOptions,
  { context, fetch, depth }: Looking,
): Promise<Pick<Look, 'outcome'> & Paid> {
  try {
    await fetch();
    const extracted = await options.pipeline.steps.content_extracted?.(context);
    if (extracted?.failure) return { outcome: 'unreadable', ...none };
    if (extracted?.unchanged) return { outcome: 'unchanged', ...none };
    const pieces = (await chunksOf(context)) ?? [];
    const held = await textOf(context);
    const own: Paid = {
      attached: 0,
      ...(await countPaid(options, pieces.map(inputOf))),
      ...(await countAsked(options, { text: held?.body ?? '', pieces })),
    };
    return { outcome: 'new', ...(await withFiles(options, own, { context, depth })) };
  } catch (error) {
    // It would end in the inbox and cost nothing; a defect of Pawl is rethrown.
    const failure = toFailure(error);
    if (failure.code === 'internal_error') throw failure;
    return { outcome: 'unreadable', ...none };
  }
}

/** Attachments are documents of their own, with their own cost. */
async function withFiles(
  options: EstimateOptions,
  own: Paid,
  { context: mail, depth }: Pick<Looking, 'context' | 'depth'>,
): Promise<Paid> {
  let sum = own;
  if (depth >= limits.attachment.depthMax) return sum;
  for (const { name, bytes } of filesOf(mail)) {
    const source = attachmentSource(mail.item.source, name);
    const { caller, corpus } = mail.item.payer;
    const context = await contextOf(options, { caller, corpus, source: { kind: 'file', source } });
    const fetch = async () => void context.scratch.set('source', typed(source, bytes));
    const found = await lookInto(options, { context, fetch, depth: depth + 1 });
    sum = {
      attached: sum.attached + 1 + found.attached,
      tokens: sum.tokens + found.tokens,
      saved: sum.saved + found.saved,
      asked: {
        input: sum.asked.input + found.asked.input,
        output: sum.asked.output + found.asked.output,
      },
      askedBefore: sum.askedBefore + found.askedBefore,
    };
  }
  return sum;
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

/** A context for a document that will not be stored. */
async function contextOf(
  { reader, world }: EstimateOptions,
  { caller, corpus, source }: { caller: string; corpus: string; source: NewSource },
): Promise<StepContext> {
  const { input } = source;
  const place = placeOf({ caller, corpus });
  const scratch = new Map<string, unknown>();
  askForFiles(scratch);
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
      documentId: await documentIdFor(reader, place, source.source),
      // Bytes at hand are extracted like a file.
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

export async function sizeOf({ source, input }: NewSource): Promise<number | undefined> {
  if (input) return Buffer.byteLength(input.body);
  try {
    return (await stat(source)).size;
  } catch {
    // It was listed a moment ago; a file that is gone since has no size and costs nothing.
    return undefined;
  }
}
