/** Settings of the models that searches and questions ask: the reranker, and the answerer. */
import { limits } from '../../kernel/limits/limits.ts';
import type { Prices } from '../../provider/prices.ts';
import { type RerankPrice, rerankVendors } from '../../provider/rerank/wire.ts';
import { parsePrices, wholeFromOne, wholeNumber } from './forms.ts';
import type { Setting } from './settings.ts';

export interface ModelConfig {
  readonly reranker: string;
  readonly rerankerUrl: string | undefined;
  readonly rerankerKey: string | undefined;
  readonly rerankerPrice: RerankPrice | undefined;
  readonly rerankerTop: number;
  readonly rerankerRequests: number;
  readonly answerer: string;
  readonly answererUrl: string | undefined;
  readonly answererKey: string | undefined;
  readonly answererPrice: Prices | undefined;
  readonly answererRequests: number;
  readonly answererTokens: number;
}

const isAddress = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text);
const vendorPattern = new RegExp(`^(?:off|(?:${rerankVendors.join('|')}):\\S+)$`);

export const modelSettings: { readonly [K in keyof ModelConfig]: Setting<K> } = {
  reranker: {
    variable: 'PAWL_RERANKER',
    initial: 'off',
    form: 'off, or VENDOR:MODEL',
    meaning:
      'A model that orders the first passages of each search. It receives the query and the ' +
      `passages. VENDOR is one of ${rerankVendors.join(', ')}; \`openai\` is any server with ` +
      '`/rerank` in the form of Jina, such as vLLM, and `tei` is Text Embeddings Inference.',
    parse: (text) => (vendorPattern.test(text) ? text : undefined),
  },
  rerankerUrl: {
    variable: 'PAWL_RERANKER_URL',
    initial: undefined,
    form: 'an http or https address without `/rerank`, such as http://127.0.0.1:8080/v1',
    meaning:
      'The address of the reranker. Absent: that of the vendor. A corpus keeps the address that ' +
      'its text was first sent to.',
    isSecret: true,
    parse: (text) => (isAddress(text) ? text : undefined),
  },
  rerankerKey: {
    variable: 'PAWL_RERANKER_KEY',
    initial: undefined,
    form: 'one word',
    meaning: 'The key for the reranker, if it needs one. It is sent only there.',
    isSecret: true,
    parse: (text) => (/^\S+$/.test(text) ? text : undefined),
  },
  rerankerPrice: {
    variable: 'PAWL_RERANKER_PRICE',
    initial: undefined,
    form: 'cents per million tokens such as 2, or cents per search such as 0.2/search',
    meaning: 'The price of the reranker. Without it, a corpus with a budget is not reranked.',
    parse: (text) => {
      const [, cents, search] = /^(\d+(?:\.\d+)?)(\/search)?$/.exec(text) ?? [];
      if (cents === undefined) return undefined;
      return { cents: Number(cents), of: search ? 'search' : 'tokens' };
    },
  },
  rerankerTop: {
    variable: 'PAWL_RERANKER_TOP',
    initial: limits.rerank.topN,
    form: `a whole number from 1 to ${limits.search.candidatesMax}`,
    meaning: 'How many of the first passages the reranker reads.',
    parse: (text) => wholeNumber(text, limits.search.candidatesMax),
  },
  rerankerRequests: {
    variable: 'PAWL_RERANKER_REQUESTS',
    initial: limits.rerank.requestsPerMinute,
    form: 'a whole number from 1',
    meaning: 'How many requests per minute one process sends to the reranker.',
    parse: wholeFromOne,
  },
  answerer: {
    variable: 'PAWL_ANSWERER',
    initial: 'off',
    form: 'off, or openai:MODEL',
    meaning:
      'The model that answers questions (`pawl ask`, `POST /ask`), with an OpenAI-compatible ' +
      'chat API. It receives the question and the passages that are found.',
    parse: (text) => (/^(?:off|openai:\S+)$/.test(text) ? text : undefined),
  },
  answererUrl: {
    variable: 'PAWL_ANSWERER_URL',
    initial: undefined,
    form: 'an http or https address up to the version, such as http://127.0.0.1:11434/v1',
    meaning:
      'The address of the model of `PAWL_ANSWERER`. Absent: that of OpenAI, which needs a key. A ' +
      'corpus keeps the address that its text was first sent to.',
    isSecret: true,
    parse: (text) => (isAddress(text) ? text : undefined),
  },
  answererKey: {
    variable: 'PAWL_ANSWERER_KEY',
    initial: undefined,
    form: 'one word',
    meaning: 'The key for that model, if it needs one. It is sent only there.',
    isSecret: true,
    parse: (text) => (/^\S+$/.test(text) ? text : undefined),
  },
  answererPrice: {
    variable: 'PAWL_ANSWERER_PRICE',
    initial: undefined,
    form: 'cents per million input and output tokens, such as 15/60',
    meaning: 'The price of that model, if it is not in the price table or differs from it.',
    parse: parsePrices,
  },
  answererRequests: {
    variable: 'PAWL_ANSWERER_REQUESTS',
    initial: limits.answer.requestsPerMinute,
    form: 'a whole number from 1',
    meaning: 'How many questions per minute one process sends to that model.',
    parse: wholeFromOne,
  },
  answererTokens: {
    variable: 'PAWL_ANSWERER_TOKENS',
    initial: limits.answer.tokensPerMinute,
    form: 'a whole number from 1',
    meaning: 'How many input and output tokens per minute one process uses of that model.',
    parse: wholeFromOne,
  },
};
