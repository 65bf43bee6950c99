/**
 * Steps of the cheap lane. The first run of such a step leaves its questions to a batch task; the
 * second finds the answers and goes on as if the provider had answered at once.
 */
import { type BlobStore, getPart } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure.ts';
import type { Completer, CompletionRequest } from '../../provider/completion.ts';
import { dropLines, isCheapLane, type LineRow, linesOfStep } from '../../store/batch-lines.ts';
import { insertVectors } from '../../store/chunks.ts';
import { getCorpusSettings } from '../../store/corpus-settings.ts';
import { getText } from '../../store/documents.ts';
import { chunksOf } from '../chunk/chunk.ts';
import { entityStep } from '../entity/entity.ts';
import { modelExtractor, questionsOf } from '../entity/model-extractor.ts';
import type { StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { withoutText } from '../superseded.ts';

/** What a million tokens cost, in cents: at once, and in a batch. */
export interface LanePrice {
  readonly input: number;
  readonly output: number;
  readonly batch?: { readonly input: number; readonly output: number } | undefined;
}

export interface LaneModel {
  readonly model: string;
  readonly price?: LanePrice | undefined;
}

export interface Answer {
  readonly text?: string;
  readonly vector?: readonly number[];
  readonly language?: string;
  /** Of a recording. */
  readonly duration_ms?: number;
  readonly tokens_in?: number;
  readonly tokens_out?: number;
  readonly error?: string;
}

type Work = (context: StepContext, answers: readonly Answer[]) => Promise<StepResult | undefined>;
type Questions = (
  context: StepContext,
) => Promise<readonly Readonly<Record<string, unknown>>[] | undefined>;

interface Deferring {
  readonly step: string;
  readonly taskType: string;
  readonly lane: LaneModel;
  readonly blobs: BlobStore;
  readonly normal: StepFunction;
  readonly questions: Questions;
  readonly work: Work;
}

function deferring(options: Deferring): StepFunction {
  const { step, taskType, lane, blobs, normal, questions, work } = options;
  return async (context) => {
    const { item, reader } = context;
    if (!(await isCheapLane(reader, item.jobId))) return normal(context);
    const lines = await linesOfStep(reader, item.id, step);
    const asked = lines.length > 0 ? undefined : await questions(context);
    if (lines.length === 0) {
      if (!asked || asked.length === 0) return normal(context);
      return { deferred: { taskType, model: lane.model, requests: asked } };
    }
    const answers = await Promise.all(lines.map((line) => answerOf(line, blobs)));
    const failed = answers.find(({ error }) => error !== undefined);
    if (failed) return refuse(context, step, failed.error ?? '');
    const result = (await work(context, answers)) ?? {};
    return { ...result, ...costOf(answers, lane, result), effect: dropping(context, step, result) };
  };
}

export async function answerOf(line: LineRow, blobs: BlobStore): Promise<Answer> {
  const { result_key: key, result_at: at, result_bytes: bytes, error } = line;
  if (key === null || at === null || bytes === null) return { error: error ?? 'no result' };
  return JSON.parse(new TextDecoder().decode(await getPart(blobs, key, { at, bytes })));
}

/** The lines go, so that a retry by a person asks anew. */
export function refuse({ item }: StepContext, step: string, error: string): StepResult {
  return {
    failure: new Failure('provider_rejected', `the batch could not answer: ${error}`),
    effect: async (transaction) => {
      await dropLines(transaction, item.id, step);
      return undefined;
    },
  };
}

export function dropping({ item }: StepContext, step: string, result: StepResult) {
  return async (...args: Parameters<NonNullable<StepResult['effect']>>) => {
    const events = await result.effect?.(...args);
    await dropLines(args[0], item.id, step);
    return events;
  };
}

/** What was paid, and what the same would have cost at once. */
function costOf(
  answers: readonly Answer[],
  { model, price }: LaneModel,
  { detail }: StepResult,
): StepResult {
  const sum = (pick: (answer: Answer) => number | undefined): number =>
    answers.reduce((total, answer) => total + (pick(answer) ?? 0), 0);
  const tokensIn = sum(({ tokens_in: tokens }) => tokens);
  const tokensOut = sum(({ tokens_out: tokens }) => tokens);
  const cents = (rate: { input: number; output: number } | undefined): number | undefined =>
    rate && (tokensIn * rate.input + tokensOut * rate.output) / 1_000_000;
  const costCents = cents(price?.batch ?? price);
  const normalCents = cents(price);
  return {
    model,
    tokensIn,
    tokensOut,
    ...(costCents !== undefined && { costCents }),
    detail: {
      ...detail,
      lane: 'cheap',
      ...(normalCents !== undefined && { normal_cost_cents: normalCents }),
    },
  };
}

export interface LaneOptions {
  readonly lane: LaneModel;
  readonly blobs: BlobStore;
  /** What the step is in the other lane. */
  readonly normal: StepFunction;
}

/** `entity_extracted`, with the questions to the model left to a completion task. */
export function deferredEntityStep({ lane, blobs, normal }: LaneOptions): StepFunction {
  return deferring({
    step: 'entity_extracted',
    taskType: 'completion',
    lane,
    blobs,
    normal,
    questions: async (context) => {
      const asked = await questionsAbout(context);
      return asked?.map(({ instruction, input, schema, schemaName: schema_name }) => ({
        instruction,
        input,
        schema,
        schema_name,
      }));
    },
    work: async (context, answers) => {
      const asked = (await questionsAbout(context)) ?? [];
      return entityStep(modelExtractor(replaying(lane.model, asked, answers)))(context);
    },
  });
}

async function questionsAbout(context: StepContext): Promise<CompletionRequest[] | undefined> {
  const text = (await getText(context.reader, context.item.id))?.body;
  const pieces = await chunksOf(context);
  return text === undefined || !pieces ? undefined : questionsOf({ text, pieces });
}

/** The same text asks the same questions: each is answered as the batch answered it. */
function replaying(
  model: string,
  asked: readonly CompletionRequest[],
  answers: readonly Answer[],
): Completer {
  const known = new Map(asked.map(({ input }, index) => [input, answers[index]]));
  return {
    model,
    prices: undefined,
    complete: async ({ input }) => {
      const outcome = known.get(input)?.text;
      if (outcome === undefined) {
        throw new Failure('step_output_invalid', `${model}: the batch has too few answers`);
      }
      return { outcome, tokens: { input: 0, output: 0 }, isPayer: false };
    },
  };
}

export interface EmbeddingLaneOptions extends LaneOptions {
  /** As vectors are stored. */
  readonly encode: (vector: readonly number[]) => Uint8Array;
  /** The name under which vectors of the model are compared, if it is not the provider's. */
  readonly storedModel?: string | undefined;
}

/** `embedded`, with the texts left to an embedding task. */
export function deferredEmbedStep(options: EmbeddingLaneOptions): StepFunction {
  const { lane, blobs, normal, encode, storedModel = lane.model } = options;
  return deferring({
    step: 'embedded',
    taskType: 'embedding',
    lane,
    blobs,
    normal,
    questions: async (context) => {
      // A corpus that was begun with another model keeps it.
      const { model } = await getCorpusSettings(context.reader, context.item);
      if (model !== null && model !== storedModel) return undefined;
      const chunks = await chunksOf(context);
      return chunks?.map(({ heading, text }) => ({
        input: heading ? `${heading}\n${text}` : text,
      }));
    },
    work: async (context, answers) => {
      const chunks = await chunksOf(context);
      if (!chunks) return withoutText(context);
      if (chunks.length !== answers.length) {
        const message = `${answers.length} of ${chunks.length} vectors came back`;
        throw new Failure('step_output_invalid', message);
      }
      const length = answers[0]?.vector?.length;
      const rows = answers.map(({ vector }, ordinal) => {
        if (!vector || vector.length !== length) {
          throw new Failure('step_output_invalid', 'the vectors of a document differ in length');
        }
        return { ordinal, model: storedModel, vector: encode(vector) };
      });
      return {
        effect: async (transaction) => {
          await insertVectors(transaction, context.item.id, rows);
          return undefined;
        },
      };
    },
  });
}
