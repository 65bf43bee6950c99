/** How the rerank interfaces of vendors and servers differ: address, body, answer. */
export interface RerankQuery {
  readonly model: string;
  readonly query: string;
  readonly texts: readonly string[];
}

/** Cents, for a million tokens or for each request. */
export interface RerankPrice {
  readonly cents: number;
  readonly of: 'tokens' | 'search';
}

export interface RerankWire {
  /** Undefined: it must be configured. */
  readonly url: string | undefined;
  /** The vendor's own variable for its key; undefined if the server may need none. */
  readonly keyVariable: string | undefined;
  body(query: RerankQuery): object;
  /** The list with one entry for each text, in any order. */
  rowsOf(answer: unknown): unknown;
  /** In an entry of the list. */
  readonly scoreName: 'relevance_score' | 'score';
  tokensOf(answer: unknown): unknown;
  /** The most texts of one request; undefined if they are more than a search asks for. */
  readonly textsMax?: number | undefined;
}

const usage = (answer: unknown): unknown => field(field(answer, 'usage'), 'total_tokens');

/** vLLM, llama.cpp, LiteLLM and others have the interface of Jina. */
const jina: RerankWire = {
  url: 'https://api.jina.ai/v1',
  keyVariable: 'JINA_API_KEY',
  body: ({ model, query, texts }) => {
    return { model, query, documents: texts, top_n: texts.length, return_documents: false };
  },
  rowsOf: (answer) => field(answer, 'results'),
  scoreName: 'relevance_score',
  tokensOf: usage,
};

export const rerankWires = {
  openai: { ...jina, url: undefined, keyVariable: undefined },
  jina,
  cohere: {
    ...jina,
    url: 'https://api.cohere.com/v2',
    keyVariable: 'CO_API_KEY',
    body: ({ model, query, texts }) => ({ model, query, documents: texts, top_n: texts.length }),
    // It is charged by search.
    tokensOf: () => undefined,
  },
  voyage: {
    ...jina,
    url: 'https://api.voyageai.com/v1',
    keyVariable: 'VOYAGE_API_KEY',
    body: ({ model, query, texts }) => ({ model, query, documents: texts, top_k: texts.length }),
    rowsOf: (answer) => field(answer, 'data'),
  },
  /**
   * Text Embeddings Inference: it serves one model, and the answer is the list itself. The number
   * of texts is the default of its `--max-client-batch-size`.
   */
  tei: {
    textsMax: 32,
    url: undefined,
    keyVariable: undefined,
    body: ({ query, texts }) => ({ query, texts, raw_scores: false, truncate: true }),
    rowsOf: (answer) => answer,
    scoreName: 'score',
    tokensOf: () => undefined,
  },
} satisfies Readonly<Record<string, RerankWire>>;

export type RerankVendor = keyof typeof rerankWires;
export const rerankVendors = Object.keys(rerankWires) as RerankVendor[];

export function field(of: unknown, name: string): unknown {
  return of instanceof Object ? (of as Readonly<Record<string, unknown>>)[name] : undefined;
}
