/**
 * Model prices in cents per million tokens, with source and date. A price that has changed or was
 * negotiated is set in the configuration (`PAWL_EMBEDDER_PRICE`, `PAWL_EXTRACTOR_PRICE`). A model
 * that is not listed has no known price: its cost is shown as unknown, not as zero.
 */
export interface Price {
  readonly input: number;
  /** 0 for embedders: their output has no tokens. */
  readonly output: number;
  /** The price of the vendor's batch service, which responds within a day. */
  readonly batch?: { readonly input: number; readonly output: number };
  readonly source: string;
  readonly asOf: string;
}

const openai = { source: "OpenAI's price list, as reprinted in public tables", asOf: '2025-08' };

/** OpenAI's batch service costs half. */
function listed(input: number, output: number): Price {
  return { input, output, batch: { input: input / 2, output: output / 2 }, ...openai };
}

export const prices: Readonly<Record<string, Price>> = {
  'text-embedding-3-small': listed(2, 0),
  'text-embedding-3-large': listed(13, 0),
  'text-embedding-ada-002': listed(10, 0),
  'gpt-4o': listed(250, 1000),
  'gpt-4o-mini': listed(15, 60),
  'gpt-4.1': listed(200, 800),
  'gpt-4.1-mini': listed(40, 160),
  'gpt-4.1-nano': listed(10, 40),
  'gpt-5': listed(125, 1000),
  'gpt-5-mini': listed(25, 200),
  'gpt-5-nano': listed(5, 40),
};

/** Undefined if unknown. */
export function priceOf(model: string): Price | undefined {
  return Object.hasOwn(prices, model) ? prices[model] : undefined;
}

/** In cents per million tokens. */
export type Prices = Pick<Price, 'input' | 'output'>;

/** The live price, and the batch price if there is a separate one. */
export interface LanePrice extends Prices {
  readonly batch?: Prices | undefined;
}

/**
 * The price of a model: configured, or from the table. The vendor's batch discount is assumed to
 * apply to a configured price; without a discount, a batch costs the same.
 */
export function lanePriceOf(model: string, set?: Partial<Prices>): LanePrice | undefined {
  const listed = priceOf(model);
  if (set?.input === undefined) return listed;
  const { input, output = 0 } = set;
  const share = (name: keyof Prices): number =>
    listed?.batch && listed[name] > 0 ? listed.batch[name] / listed[name] : 1;
  return {
    input,
    output,
    batch: { input: input * share('input'), output: output * share('output') },
  };
}

export interface Tokens {
  readonly input: number;
  readonly output: number;
}

const million = 1_000_000;

export function costOf(
  tokens: { readonly input: number; readonly output?: number },
  price: Prices,
): number {
  return (tokens.input * price.input + (tokens.output ?? 0) * price.output) / million;
}
