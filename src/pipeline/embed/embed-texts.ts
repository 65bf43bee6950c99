/**
 * Texts to vectors: from the paid-answer cache if they were answered before, else from the
 * embedder.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Embedder, Embeddings, PaidVector } from '../../provider/embedding/embedding.ts';
import type { Prices } from '../../provider/prices.ts';
import { keyOf } from '../../store/money/paid-answers.ts';
import { centsFor, type PaidAnswers, type Purchase } from '../paid-answers.ts';
import type { StepContext } from '../pipeline.ts';

/** Changes whenever the same text or response would give another result. */
const stepVersion = 'embedded 1';

export interface EmbedInput {
  readonly text: string;
  /** An estimate of the model's token count. */
  readonly tokens: number;
}

export interface Embedded {
  readonly vectors: readonly Uint8Array[];
  readonly tokensIn: number;
  readonly costCents: number;
  readonly tokensSaved: number;
  readonly savedCents: number;
  /** Its responses are cached and charged as they arrive. */
  readonly isMetered: boolean;
  readonly isPriced: boolean;
}

export interface Tools {
  readonly embedder: Embedder;
  readonly paidAnswers: PaidAnswers | undefined;
}

export function embedTexts(
  context: StepContext,
  inputs: readonly EmbedInput[],
  { embedder, paidAnswers }: Tools,
): Promise<Embedded> {
  context.used?.({ model: embedder.model });
  if (!embedder.meter || !paidAnswers) return embedAll(context, inputs, embedder);
  return new VectorPurchase(context, embedder, paidAnswers).embed(inputs);
}

/** The key under which the vector of a text is kept. */
export function vectorKey(model: string, text: string): string {
  return keyOf({ step: stepVersion, model, input: text });
}

async function embedAll(
  context: StepContext,
  inputs: readonly EmbedInput[],
  embedder: Embedder,
): Promise<Embedded> {
  const vectors: Uint8Array[] = [];
  let tokensIn = 0;
  let costCents = 0;
  for (const batch of batchesOf(inputs)) {
    const texts = batch.map(({ text }) => text);
    const answer = checked(await embedder.embed(texts, context.signal), texts.length, embedder);
    vectors.push(...answer.vectors);
    tokensIn += answer.tokensIn;
    costCents += answer.costCents;
    context.used?.({ model: embedder.model, ...answer });
    context.progress(vectors.length, inputs.length);
  }
  const saved = { tokensSaved: 0, savedCents: 0 };
  return { vectors, tokensIn, costCents, ...saved, isMetered: false, isPriced: true };
}

function* batchesOf<T>(inputs: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < inputs.length; start += limits.budget.embeddingBatchMax) {
    yield inputs.slice(start, start + limits.budget.embeddingBatchMax);
  }
}

function checked(answer: Embeddings, count: number, { model }: Embedder): Embeddings {
  if (answer.vectors.length === count) return answer;
  const message = `${model}: ${answer.vectors.length} of ${count} vectors`;
  throw new Failure('step_output_invalid', message);
}

/** Embeds the texts of one document through the paid-answer cache. */
class VectorPurchase {
  readonly #context: StepContext;
  readonly #embedder: Embedder;
  readonly #paidAnswers: PaidAnswers;
  readonly #purchase: Purchase;

  constructor(context: StepContext, embedder: Embedder, paidAnswers: PaidAnswers) {
    this.#context = context;
    this.#embedder = embedder;
    this.#paidAnswers = paidAnswers;
    this.#purchase = {
      item: context.item,
      step: 'embedded',
      model: embedder.model,
      prices: pricesOf(embedder),
      priceSetting: 'PAWL_EMBEDDER_PRICE',
    };
  }

  async embed(inputs: readonly EmbedInput[]): Promise<Embedded> {
    const { model } = this.#embedder;
    const keys = new Map(inputs.map(({ text }) => [text, vectorKey(model, text)]));
    const known = await this.#paidAnswers.find([...keys.values()]);
    const vectors = new Map<string, Uint8Array>();
    const wanted = new Map<string, EmbedInput>();
    let tokensSaved = 0;
    for (const input of inputs) {
      const found = known.get(keys.get(input.text) ?? '');
      const isRepeated = vectors.has(input.text) || wanted.has(input.text);
      if (found) vectors.set(input.text, found.value);
      else if (!isRepeated) wanted.set(input.text, input);
      // Counts tokens that are not sent: cached texts, and repetitions within a document.
      if (found || isRepeated) tokensSaved += found?.tokens ?? input.tokens;
    }
    const paid = await this.#buy([...wanted.values()], vectors, inputs.length);
    return {
      vectors: inputs.map(({ text }) => vectors.get(text) as Uint8Array),
      ...paid,
      tokensSaved,
      savedCents: centsFor({ input: tokensSaved, output: 0 }, this.#purchase) ?? 0,
      isMetered: true,
      isPriced: this.#purchase.prices !== undefined,
    };
  }

  async #buy(
    wanted: readonly EmbedInput[],
    vectors: Map<string, Uint8Array>,
    total: number,
  ): Promise<{ tokensIn: number; costCents: number }> {
    const { signal, progress } = this.#context;
    let tokensIn = 0;
    let costCents = 0;
    for (const batch of batchesOf(wanted)) {
      signal.throwIfAborted();
      const texts = batch.map(({ text }) => text);
      const answer = await this.#call(batch, texts);
      texts.forEach((text, index) => {
        vectors.set(text, answer.vectors[index] as Uint8Array);
      });
      tokensIn += answer.tokensIn;
      costCents += answer.costCents;
      progress(vectors.size, total);
    }
    return { tokensIn, costCents };
  }

  async #call(batch: readonly EmbedInput[], texts: readonly string[]): Promise<Embeddings> {
    const { signal } = this.#context;
    const input = batch.reduce((sum, { tokens }) => sum + tokens, 0);
    const isReserved = await this.#paidAnswers.reserve(this.#purchase, { input, output: 0 });
    try {
      const answer = await this.#embedder.embed(texts, signal, (paid) => this.#keep(paid));
      return checked(answer, texts.length, this.#embedder);
    } catch (error) {
      // After an abort, a call may still be in flight and has to be paid.
      if (isReserved && !signal.aborted) await this.#paidAnswers.release(this.#purchase);
      throw error;
    }
  }

  #keep(paid: readonly PaidVector[]): Promise<void> {
    const { model } = this.#embedder;
    const tokensIn = paid.reduce((sum, { tokens }) => sum + tokens, 0);
    const costCents = centsFor({ input: tokensIn, output: 0 }, this.#purchase);
    this.#context.used?.({ model, tokensIn, costCents });
    return this.#paidAnswers.keep(
      this.#purchase,
      paid.map(({ text, vector, tokens }) => ({
        key: vectorKey(model, text),
        value: vector,
        tokens: { input: tokens, output: 0 },
      })),
    );
  }
}

/** Vectors are priced by the tokens of their texts. */
function pricesOf({ meter }: Embedder): Prices | undefined {
  const input = meter?.centsPerMillionTokens;
  return input === undefined ? undefined : { input, output: 0 };
}
