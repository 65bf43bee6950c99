/**
 * What models cost, in cents for a million tokens, from the source and of the date beside them. A
 * price that has changed since, or that was agreed with the vendor, is set in the configuration
 * (`PAWL_EMBEDDER_PRICE`, `PAWL_EXTRACTOR_PRICE`); a model that is not here has no known price, and
 * its cost is shown as unknown, not as nothing.
 */
export interface Price {
  readonly input: number;
  /** Embedders have none: their answer is not counted in tokens. */
  readonly output: number;
  /** The same by the vendor's batch service, which answers within a day. */
  readonly batch?: { readonly input: number; readonly output: number };
  readonly source: string;
  readonly asOf: string;
}

const openai = { source: "OpenAI's price list, as reprinted in public tables", asOf: '2025-08' };

/** OpenAI's batch service takes half. */
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

/** Undefined: nobody has told us. */
export function priceOf(model: string): Price | undefined {
  return Object.hasOwn(prices, model) ? prices[model] : undefined;
}

/** In cents for a million tokens. */
export type Prices = Pick<Price, 'input' | 'output'>;

/** At once, and in a batch where that has a price of its own. */
export interface LanePrice extends Prices {
  readonly batch?: Prices | undefined;
}

/**
 * What a model costs where somebody has said so, or by the table. The vendor's discount for a batch
 * is taken to hold for the price that was set; where there is none, a batch costs as much.
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
