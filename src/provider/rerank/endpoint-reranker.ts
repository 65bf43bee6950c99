/**
 * A reranker behind an HTTP endpoint. Its answer must have one finite score for each text. Scores
 * beyond 0 to 1 are those of a model without its last step, which is applied here: the order stays.
 */
import { readBoundedText } from '../../concurrency/bounded.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type Origin, originOf } from '../../kernel/name/origin.ts';
import type { World } from '../../kernel/world.ts';
import { guessTokens } from '../embedding/embedding.ts';
import { bearer, hostOf, postToModel } from '../model-post.ts';
import { refusedBy } from '../openai-server.ts';
import { costOf, type Tokens } from '../prices.ts';
import { Budget, type BudgetLimits } from '../rate-limit.ts';
import {
  field,
  type RerankPrice,
  type RerankVendor,
  type RerankWire,
  rerankWires,
} from './wire.ts';

export interface EndpointRerankerOptions {
  readonly vendor: RerankVendor;
  readonly model: string;
  readonly url: string;
  readonly isNamed: boolean;
  readonly key?: string | undefined;
  readonly price?: RerankPrice | undefined;
  readonly budget?: BudgetLimits | undefined;
  readonly world: World;
}

export interface Ranked {
  /** From 0 to 1, in the order of the texts. */
  readonly relevances: readonly number[];
  readonly tokens: Tokens;
}

export interface RerankModel {
  /** With its vendor. */
  readonly name: string;
  readonly origin: Origin;
  /** Undefined if the price is not configured. */
  centsOf(tokens: Tokens): number | undefined;
  /** Rather too many than too few. */
  guess(query: string, texts: readonly string[]): Tokens;
  rank(query: string, texts: readonly string[], signal: AbortSignal): Promise<Ranked>;
}

export function endpointReranker(options: EndpointRerankerOptions): RerankModel {
  const { vendor, model, url, key, price, world } = options;
  const wire: RerankWire = rerankWires[vendor];
  const name = `${vendor}:${model}`;
  const { answerBytesMax, pauseMs } = limits.rerank;
  const budget = new Budget(hostOf(url), world, options.budget ?? limits.rerank);
  const read = async (query: string, texts: readonly string[], response: Response) => {
    const message = `the answer is larger than ${answerBytesMax} bytes`;
    const tooLarge = () => new Failure('step_output_invalid', message);
    const body = await readBoundedText(response.body, answerBytesMax, tooLarge);
    if (response.status !== 200) {
      const headers = Object.fromEntries(response.headers);
      const asker = { host: hostOf(url), model, key, texts: [query, ...texts], now: world.now() };
      throw refusedBy(budget, { status: response.status, headers, body }, asker);
    }
    const answer = parse(body, name);
    const scores = scoresOf(wire.rowsOf(answer), { wire, count: texts.length, name });
    const counted = wire.tokensOf(answer);
    const isCount = Number.isInteger(counted) && Number(counted) > 0;
    const tokens = isCount ? { input: Number(counted), output: 0 } : guess(query, texts);
    return { scores, tokens };
  };
  const ask = (query: string, texts: readonly string[], signal: AbortSignal) => {
    const post = {
      url: `${url.replace(/\/+$/, '')}/rerank`,
      model: name,
      headers: bearer(key),
      body: JSON.stringify(wire.body({ model, query, texts })),
      world,
      wholeMs: limits.rerank.wholeMs,
      signal,
    };
    return postToModel(post, (response) => read(query, texts, response));
  };
  return {
    name,
    origin: originOf(url, options.isNamed),
    centsOf: (tokens) => {
      if (!price) return undefined;
      return price.of === 'search'
        ? price.cents
        : costOf(tokens, { input: price.cents, output: 0 });
    },
    guess,
    rank: async (query, texts, signal) => {
      budget.take(guess(query, texts).input);
      try {
        const parts = await Promise.all(
          partsOf(texts, wire.textsMax).map((part) => ask(query, part, signal)),
        );
        return joined(parts);
      } catch (error) {
        // Searches do not wait for an endpoint that is down: for a while they do not ask it.
        if (error instanceof Failure && error.code === 'provider_unavailable')
          budget.close(pauseMs);
        throw error;
      }
    },
  };
}

function partsOf(texts: readonly string[], size = texts.length): readonly string[][] {
  const parts: string[][] = [];
  for (let at = 0; at < texts.length; at += size) parts.push(texts.slice(at, at + size));
  return parts;
}

interface Part {
  readonly scores: readonly number[];
  readonly tokens: Tokens;
}

function joined(parts: readonly Part[]): Ranked {
  const input = parts.reduce((sum, { tokens }) => sum + tokens.input, 0);
  const scores = parts.flatMap((part) => part.scores);
  return { relevances: toRelevances(scores), tokens: { input, output: 0 } };
}

function guess(query: string, texts: readonly string[]): Tokens {
  const asked = guessTokens(query);
  return { input: texts.reduce((sum, text) => sum + asked + guessTokens(text), 0), output: 0 };
}

function parse(body: string, name: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    const message = `${name} answered with something else than JSON`;
    throw new Failure('step_output_invalid', message, { cause: error });
  }
}

interface Expected {
  readonly wire: RerankWire;
  readonly count: number;
  readonly name: string;
}

function scoresOf(rows: unknown, { wire, count, name }: Expected): number[] {
  const refuse = (what: string): Failure => new Failure('step_output_invalid', `${name} ${what}`);
  if (!Array.isArray(rows)) throw refuse('answered without a list of scores');
  if (rows.length !== count) throw refuse(`returned ${rows.length} scores for ${count} passages`);
  const scores = new Array<number | undefined>(count).fill(undefined);
  for (const row of rows) {
    const [index, score] = [Number(field(row, 'index')), field(row, wire.scoreName)];
    const isFree = index in scores && scores[index] === undefined;
    if (!isFree)
      throw refuse(`returned a score for passage ${JSON.stringify(field(row, 'index'))}`);
    if (!Number.isFinite(score)) throw refuse('returned a score that is no number');
    scores[index] = Number(score);
  }
  return scores as number[];
}

function toRelevances(scores: readonly number[]): readonly number[] {
  return scores.every((score) => score >= 0 && score <= 1)
    ? scores
    : scores.map((score) => 1 / (1 + Math.exp(-score)));
}
