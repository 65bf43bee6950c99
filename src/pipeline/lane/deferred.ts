/**
 * Steps of the batch lane. The first run of such a step hands its requests to a batch task, except
 * those answered before; the next run finds the answers and continues like the live lane.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { embedUse, type Origin, type OriginUse } from '../../kernel/name/origin.ts';
import {
  type Completer,
  type CompletionRequest,
  guessCompletion,
} from '../../provider/completion/completion.ts';
import { costOf, type LanePrice, type Tokens } from '../../provider/prices.ts';
import { isCheapLane, linesOfStep } from '../../store/batch/lines.ts';
import { getCorpusSettings } from '../../store/corpus/settings.ts';
import { insertVectors } from '../../store/document/chunks.ts';
import { getText } from '../../store/document/documents.ts';
import type { Reader } from '../../store/driver/database.ts';
import { releaseReservation } from '../../store/money/budgets.ts';
import type { ResultRow } from '../../store/money/paid-answers.ts';
import { charge } from '../../store/money/spending.ts';
import { chunksOf } from '../chunk/chunk.ts';
import type { Chunker } from '../chunk/chunker.ts';
import { checkOrigin } from '../corpus-origin.ts';
import { inputOf, pinOrRefuse } from '../embed/embed.ts';
import { vectorKey } from '../embed/embed-texts.ts';
import { answerKey } from '../entity/ask-model.ts';
import { entityStep } from '../entity/entity.ts';
import { modelExtractor, questionsOf, readClaims } from '../entity/model-extractor.ts';
import { centsFor, type PaidAnswers, type Purchase } from '../paid-answers.ts';
import type { LaneRequest, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { endWithoutText } from '../pruned-text.ts';
import { type Bank, bankLines, isInProgress, type LaneStep, type Reply, refuse } from './bank.ts';

export interface LaneModel {
  readonly model: string;
  readonly price?: LanePrice | undefined;
  /** Where texts are sent. */
  readonly origin?: Origin | undefined;
  /**
   * Whether some process sends requests for this model to a batch; always, if absent. Answers that
   * a batch has brought are used in either case: the live lane would pay for them again.
   */
  readonly isServed?: ((reader: Reader) => Promise<boolean>) | undefined;
}

export interface LaneOptions {
  readonly lane: LaneModel;
  readonly blobs: BlobStore;
  /** The paid-answer cache. */
  readonly paidAnswers: PaidAnswers;
  readonly chunker?: Chunker | undefined;
  /** What the step is in the other lane. */
  readonly normal: StepFunction;
}

interface KeyedRequest {
  readonly key: string;
  readonly request: LaneRequest;
  /** An estimate of the model's token counts. */
  readonly tokens: Tokens;
}

type Known = ReadonlyMap<string, ResultRow>;

interface Deferring extends LaneOptions {
  readonly step: string;
  readonly use: OriginUse;
  readonly taskType: string;
  readonly priceSetting: string;
  /** The requests, in order; undefined if the batch is not responsible for them. */
  readonly questions: (context: StepContext) => Promise<readonly KeyedRequest[] | undefined>;
  /**
   * Creates a reader for the responses of one document: it returns what to store, and throws if a
   * response is unusable.
   */
  readonly reader: () => (reply: Reply) => Uint8Array;
  readonly work: (context: StepContext, known: Known) => Promise<StepResult | undefined>;
}

function deferring(options: Deferring): LaneStep {
  const { step, taskType, lane, paidAnswers, normal, questions, work } = options;
  const bank: Bank = (item, lines) =>
    bankLines(lines, { ...options, purchase: purchaseOf(item, options), read: options.reader() });
  const run: StepFunction = async (context) => {
    const { item, reader } = context;
    if (!(await isCheapLane(reader, item.jobId))) return normal(context);
    const lines = await linesOfStep(reader, item.id, step);
    if (isInProgress(lines)) return { deferred: { taskType, model: lane.model, requests: [] } };
    const purchase = purchaseOf(item, options);
    const { paid, failure } = await bank(item, lines);
    if (failure) return refuse(context, step, failure);
    const requested = await questions(context);
    if (!requested || requested.length === 0) return normal(context);
    const known = await knownTo(paidAnswers, requested, paid);
    const missing = new Map(
      requested.filter(({ key }) => !known.has(key)).map((question) => [question.key, question]),
    );
    if (missing.size > 0) {
      if (lane.isServed && !(await lane.isServed(reader))) return normal(context);
      const wanted = [...missing.values()];
      const effect = await checkLane(context, options);
      // If the budget does not allow it, the job is paused before the batch is created.
      await paidAnswers.reserve(purchase, sumOf(wanted));
      const requests = wanted.map(({ request }) => request);
      return { deferred: { taskType, model: lane.model, requests, effect } };
    }
    const result = (await work(context, known)) ?? {};
    return { ...result, ...account(context, result, { requested, known, paid, purchase, lane }) };
  };
  return { run, bank };
}

/** The batch is sent to the address of the corpus, or not at all. */
async function checkLane({ item, reader }: StepContext, { use, lane }: Deferring) {
  const { caller, corpus } = item;
  const { model, origin } = lane;
  const isBegun = use !== 'entities' && (await getCorpusSettings(reader, item)).model !== null;
  return checkOrigin(reader, { caller, corpus, use, model, origin, isBegun });
}

function purchaseOf(item: Purchase['item'], { step, lane, priceSetting }: Deferring): Purchase {
  const { model, price } = lane;
  return { item, step, model, prices: price?.batch ?? price, priceSetting };
}

async function knownTo(
  paidAnswers: PaidAnswers,
  requested: readonly KeyedRequest[],
  paid: Known,
): Promise<Known> {
  const keys = new Set(requested.map(({ key }) => key).filter((key) => !paid.has(key)));
  return new Map([...paid, ...(await paidAnswers.find([...keys]))]);
}

interface Account {
  readonly requested: readonly KeyedRequest[];
  readonly known: Known;
  readonly paid: Known;
  readonly purchase: Purchase;
  readonly lane: LaneModel;
}

/** What was paid, the live price of the same, and what was not paid again. */
function account(
  { item }: StepContext,
  { detail, effect }: StepResult,
  { requested, known, paid, purchase, lane }: Account,
): StepResult {
  const unseen = new Set(paid.keys());
  const spent = sumOf([...paid.values()].map(counted));
  // As in the live lane: cached answers and repetitions within a document are saved.
  const saved = sumOf(
    requested.flatMap(({ key }) => (unseen.delete(key) ? [] : (known.get(key) ?? []))).map(counted),
  );
  const tokensSaved = saved.input + saved.output;
  const savedCents = centsFor(saved, purchase);
  return {
    model: lane.model,
    // Already charged with the answers: here it is only reported.
    detail: {
      ...detail,
      lane: 'cheap',
      tokens_in: spent.input,
      ...(spent.output > 0 && { tokens_out: spent.output }),
      cost_cents: centsFor(spent, purchase) ?? null,
      ...(lane.price && { normal_cost_cents: costOf(spent, lane.price) }),
      tokens_saved: tokensSaved,
      ...(savedCents !== undefined && { saved_cents: savedCents }),
    },
    effect: async (transaction, now) => {
      const events = await effect?.(transaction, now);
      if (tokensSaved > 0) {
        const { id: itemId, jobId } = item;
        await charge(transaction, { itemId, jobId, now, tokensSaved, savedCents: savedCents ?? 0 });
      }
      await releaseReservation(transaction, { itemId: item.id, step: purchase.step });
      return events;
    },
  };
}

interface Counted {
  readonly tokens: Tokens;
}

function counted({ tokens: input, tokens_out: output }: ResultRow): Counted {
  return { tokens: { input, output } };
}

function sumOf(list: readonly Counted[]): Tokens {
  const sum = (name: keyof Tokens): number =>
    list.reduce((total, { tokens }) => total + tokens[name], 0);
  return { input: sum('input'), output: sum('output') };
}

/** `entity_extracted` with its model requests handed to a completion task. */
export function deferredEntityStep(options: LaneOptions): LaneStep {
  const { model } = options.lane;
  const { chunker } = options;
  return deferring({
    ...options,
    step: 'entity_extracted',
    use: 'entities',
    taskType: 'completion',
    priceSetting: 'PAWL_EXTRACTOR_PRICE',
    questions: async (context) => {
      const asked = await questionsAbout(context, chunker);
      return asked?.map((request) => {
        const { instruction, input, schema, schemaName: schema_name } = request;
        const key = answerKey(model, request);
        const asking = { key, instruction, input, schema, schema_name };
        return { key, request: asking, tokens: guessCompletion(request) };
      });
    },
    reader:
      () =>
      ({ text = '' }) => {
        readClaims(text, model);
        return Buffer.from(text);
      },
    work: (context, known) => {
      const extractor = modelExtractor(replaying(model, known));
      // The batch has answered: a remote extractor must not be asked as well.
      return entityStep(extractor, chunker)({ ...context, tools: undefined });
    },
  });
}

async function questionsAbout(
  context: StepContext,
  chunker: Chunker | undefined,
): Promise<CompletionRequest[] | undefined> {
  const text = (await getText(context.reader, context.item.id))?.body;
  const pieces = await chunksOf(context, chunker);
  return text === undefined || !pieces ? undefined : questionsOf({ text, pieces });
}

/** The same text gives the same requests: each gets the batch's answer. */
function replaying(model: string, known: Known): Completer {
  return {
    model,
    prices: undefined,
    complete: async (request) => {
      const found = known.get(answerKey(model, request));
      if (!found) {
        throw new Failure('step_output_invalid', `${model}: the batch has too few answers`);
      }
      const outcome = Buffer.from(found.value).toString();
      return { outcome, tokens: { input: 0, output: 0 }, isPayer: false };
    },
  };
}

export interface EmbeddingLaneOptions extends LaneOptions {
  /** The storage format of vectors. */
  readonly encode: (vector: readonly number[]) => Uint8Array;
  /** The name under which vectors of the model are compared, if it differs from the provider's. */
  readonly storedModel?: string | undefined;
}

/** `embedded` with its texts handed to an embedding task. */
export function deferredEmbedStep(options: EmbeddingLaneOptions): LaneStep {
  const { lane, encode, chunker, storedModel = lane.model } = options;
  return deferring({
    ...options,
    step: 'embedded',
    use: embedUse(storedModel),
    taskType: 'embedding',
    priceSetting: 'PAWL_EMBEDDER_PRICE',
    questions: async (context) => {
      // A corpus that was started with another model keeps it.
      const { model } = await getCorpusSettings(context.reader, context.item);
      if (model !== null && model !== storedModel) return undefined;
      const chunks = await chunksOf(context, chunker);
      return chunks?.map((chunk) => {
        const { text, tokens } = inputOf(chunk);
        const key = vectorKey(storedModel, text);
        return { key, request: { key, input: text }, tokens: { input: tokens, output: 0 } };
      });
    },
    reader: () => vectorReader(encode),
    work: async (context, known) => {
      const chunks = await chunksOf(context, chunker);
      if (!chunks) return endWithoutText(context);
      const rows = chunks.map((chunk) => {
        const found = known.get(vectorKey(storedModel, inputOf(chunk).text));
        if (!found) throw new Failure('step_output_invalid', 'the batch has too few vectors');
        return { ordinal: chunk.ordinal, model: storedModel, vector: found.value };
      });
      if (new Set(rows.map(({ vector }) => vector.length)).size > 1) throw ofDifferentLength();
      const isBegun = (await getCorpusSettings(context.reader, context.item)).model !== null;
      return {
        effect: async (transaction) => {
          if (!isBegun) await pinOrRefuse(transaction, context.item, storedModel);
          await insertVectors(transaction, context.item.id, rows);
          return undefined;
        },
      };
    },
  });
}

/** The first vector of a document sets the length: a different one must not be stored. */
function vectorReader(encode: EmbeddingLaneOptions['encode']): (reply: Reply) => Uint8Array {
  let length: number | undefined;
  return ({ vector = [] }) => {
    length ??= vector.length;
    if (vector.length === 0 || vector.length !== length) throw ofDifferentLength();
    return encode(vector);
  };
}

function ofDifferentLength(): Failure {
  return new Failure('step_output_invalid', 'the vectors of a document differ in length');
}
