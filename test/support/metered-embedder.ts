/** An embedder with costs, in memory: it counts its requests. */
import type { Embedder } from '../../src/provider/embedding/embedding.ts';
import { fakeTokens, fakeVector } from './openai-server.ts';

export interface MeteredEmbedder extends Embedder {
  /** Every text, each time it was requested. */
  readonly asked: string[];
  /** Called before each response; throws to refuse it. */
  before: (texts: readonly string[]) => void | Promise<void>;
}

export function meteredEmbedder({
  model = 'metered',
  centsPerMillionTokens = 1_000_000,
}: {
  model?: string;
  centsPerMillionTokens?: number | undefined;
} = {}): MeteredEmbedder {
  const asked: string[] = [];
  const price = centsPerMillionTokens;
  const metered: MeteredEmbedder = {
    model,
    meter: { centsPerMillionTokens: Number.isNaN(price) ? undefined : price },
    asked,
    before: () => undefined,
    async embed(texts, _signal, keep) {
      await metered.before(texts);
      asked.push(...texts);
      const paid = texts.map((text) => ({
        text,
        vector: new Uint8Array(fakeVector(`${model} ${text}`).buffer),
        tokens: fakeTokens(text),
      }));
      await keep?.(paid);
      const tokensIn = paid.reduce((sum, { tokens }) => sum + tokens, 0);
      const costCents = (tokensIn * (Number.isNaN(price) ? 0 : price)) / 1_000_000;
      return { vectors: paid.map(({ vector }) => vector), tokensIn, costCents };
    },
  };
  return metered;
}
