/**
 * `embedded`: computes a vector per chunk, with the model of the corpus and with its next model.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Embedder } from '../../provider/embedding/embedding.ts';
import { getCorpusSettings, pinModel } from '../../store/corpus/settings.ts';
import { insertVectors, type NewChunk } from '../../store/document/chunks.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { releaseReservation } from '../../store/money/budgets.ts';
import { charge } from '../../store/money/spending.ts';
import { chunksOf } from '../chunk/chunk.ts';
import type { Chunker } from '../chunk/chunker.ts';
import { type CorpusEmbedders, corpusEmbedder, type RecordFirstUse } from '../corpus-origin.ts';
import type { PaidAnswers } from '../paid-answers.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { endWithoutText } from '../pruned-text.ts';
import { holdModels } from '../step-memory.ts';
import { type Embedded, type EmbedInput, embedTexts } from './embed-texts.ts';

export interface EmbedOptions extends CorpusEmbedders {
  /** The paid-answer cache. */
  readonly paidAnswers?: PaidAnswers | undefined;
  /** Splits texts into chunks; this thread does, if undefined. */
  readonly chunker?: Chunker | undefined;
}

export function embedStep(options: EmbedOptions): StepFunction {
  return async (context) => {
    const chunks = await chunksOf(context, options.chunker);
    if (!chunks) return endWithoutText(context);
    const { item, reader } = context;
    const settings = await getCorpusSettings(reader, item);
    const model = settings.model ?? options.embedder.model;
    const isBegun = settings.model !== null;
    const parts = [await embedChunks(context, options, { model, chunks, isBegun })];
    if (settings.next_model !== null && settings.next_model !== model) {
      parts.push(await embedChunks(context, options, { model: settings.next_model, chunks }));
    }
    holdModels(context.scratch, new Map(parts.map((part) => [part.model, part.ordinals.length])));
    return resultOf(context, parts, settings.model === null ? model : undefined);
  };
}

export interface EmbeddedChunks extends Embedded {
  readonly model: string;
  readonly ordinals: readonly number[];
  /** Records the address at the model's first use for the corpus. */
  readonly recordFirstUse: RecordFirstUse | undefined;
}

type Chunk = Pick<NewChunk, 'ordinal' | 'heading' | 'text'> & { readonly tokenCount: number };

export interface EmbedChunks {
  readonly model: string;
  readonly chunks: readonly Chunk[];
  /** False if nothing of the corpus is embedded yet. */
  readonly isBegun?: boolean | undefined;
}

/** Vectors of one model for chunks, paid for at most once. */
export async function embedChunks(
  context: StepContext,
  options: EmbedOptions,
  { model, chunks, isBegun = true }: EmbedChunks,
): Promise<EmbeddedChunks> {
  const { caller, corpus } = context.item;
  const key = { caller, corpus, model, isBegun };
  const { embedder, recordFirstUse } = await corpusEmbedder(context.reader, key, {
    ...options,
    ...context.tools,
  });
  const inputs = chunks.map(inputOf);
  const embedded = await embedTexts(context, inputs, {
    embedder,
    paidAnswers: options.paidAnswers,
  });
  return { ...embedded, model, recordFirstUse, ordinals: chunks.map(({ ordinal }) => ordinal) };
}

const charactersPerToken = 3;

/** The model input: a chunk below its headings. */
export function inputOf({ heading, text, tokenCount }: Omit<Chunk, 'ordinal'>): EmbedInput {
  if (!heading) return { text, tokens: tokenCount };
  const tokens = tokenCount + Math.ceil(heading.length / charactersPerToken) + 1;
  return { text: `${heading}\n${text}`, tokens };
}

/** For texts that belong to no corpus of this process. */
export function embedderOf(
  model: string,
  { embedder, otherEmbedder }: CorpusEmbedders,
  url?: string,
): Embedder {
  const found = model === embedder.model ? embedder : otherEmbedder?.(model, url);
  if (found) return found;
  throw new Failure(
    'provider_bad_request',
    `the corpus is embedded with ${model}, which is not configured: set PAWL_EMBEDDER to it, or ` +
      'embed the corpus again with `pawl corpora reembed`',
  );
}

function resultOf(
  { item }: StepContext,
  parts: readonly EmbeddedChunks[],
  pinned: string | undefined,
): StepResult {
  const paid = parts.some(({ isMetered }) => isMetered);
  const sum = (name: 'tokensIn' | 'costCents'): number =>
    parts.reduce((all, part) => all + (part.isMetered ? 0 : part[name]), 0);
  return {
    model: parts.map(({ model }) => model).join(', '),
    // Metered use is already charged, together with the responses.
    tokensIn: sum('tokensIn'),
    costCents: sum('costCents'),
    ...(paid && { detail: detailOf(parts) }),
    effect: async (transaction, now) => {
      if (pinned !== undefined) await pinOrRefuse(transaction, item, pinned);
      await writeVectors(transaction, parts, { item, generationId: item.id, now });
      if (paid) await releaseReservation(transaction, { itemId: item.id, step: 'embedded' });
      return undefined;
    },
  };
}

/** Two processes may start a corpus with two models at the same time: the second starts again. */
export async function pinOrRefuse(
  transaction: Transaction,
  { caller, corpus }: PipelineItem,
  model: string,
): Promise<void> {
  const holding = await pinModel(transaction, { caller, corpus, model });
  if (holding === model) return;
  const message = `${corpus} was started with ${holding} while this was embedded with ${model}`;
  throw new Failure('replaced_meanwhile', message);
}

/** Stores the vectors, and charges what was saved. Unmetered models save nothing. */
export async function writeVectors(
  transaction: Transaction,
  parts: readonly EmbeddedChunks[],
  { item, generationId, now }: { item: PipelineItem; generationId: number; now: number },
): Promise<void> {
  for (const part of parts) {
    await part.recordFirstUse?.(transaction);
    await insertVectors(transaction, generationId, rowsOf(part));
  }
  const saved = savedBy(parts);
  if (saved.tokensSaved === 0) return;
  await charge(transaction, { itemId: item.id, jobId: item.jobId, now, ...saved });
}

function rowsOf({ model, vectors, ordinals }: EmbeddedChunks) {
  return vectors.map((vector, index) => ({ ordinal: ordinals[index] as number, model, vector }));
}

function savedBy(parts: readonly Embedded[]): { tokensSaved: number; savedCents: number } {
  return {
    tokensSaved: parts.reduce((sum, { tokensSaved }) => sum + tokensSaved, 0),
    savedCents: parts.reduce((sum, { savedCents }) => sum + savedCents, 0),
  };
}

export function detailOf(parts: readonly Embedded[]): Record<string, unknown> {
  const { tokensSaved, savedCents } = savedBy(parts);
  const isPriced = parts.every((part) => part.isPriced);
  return {
    tokens_in: parts.reduce((sum, part) => sum + part.tokensIn, 0),
    cost_cents: isPriced ? parts.reduce((sum, part) => sum + part.costCents, 0) : null,
    tokens_saved: tokensSaved,
    ...(isPriced && { saved_cents: savedCents }),
  };
}
