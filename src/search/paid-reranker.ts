/**
 * Reranks by an endpoint: only at the address that the corpus knows, within the budget of the
 * caller, and not again for the same query and passages.
 */
import { limits } from '../kernel/limits/limits.ts';
import { checkOrigin } from '../pipeline/corpus-origin.ts';
import type { RequestMoney } from '../pipeline/request-money.ts';
import type { RerankModel } from '../provider/rerank/endpoint-reranker.ts';
import type { Database } from '../store/driver/database.ts';
import type { Reranker } from './rerank.ts';

export interface PaidRerankerParts {
  readonly model: RerankModel;
  readonly topN: number;
  readonly database: Database;
  readonly money: RequestMoney;
}

export function paidReranker({ model, topN, database, money }: PaidRerankerParts): Reranker {
  const { name, origin } = model;
  return {
    name,
    topN,
    relevances: async (query, passages, { signal, corpus, payer }) => {
      const sending = { ...corpus, use: 'rerank', model: name, origin, isBegun: false } as const;
      const recordFirstUse = await checkOrigin(database, sending);
      const texts = passages.map(textOf);
      const purchase = {
        payer,
        step: 'rerank 1',
        model: name,
        priceSetting: 'PAWL_RERANKER_PRICE',
        input: JSON.stringify([origin.url, query, texts]),
      };
      const known = await money.find(purchase, (tokens) => model.centsOf(tokens));
      if (known) return [...new Float64Array(Uint8Array.from(known).buffer)];
      const settle = await money.reserve(purchase, model.centsOf(model.guess(query, texts)));
      try {
        if (recordFirstUse) await database.write(recordFirstUse);
        const { relevances, tokens } = await model.rank(query, texts, signal);
        const response = new Uint8Array(Float64Array.from(relevances).buffer);
        await settle({ tokens, cents: model.centsOf(tokens) }, response);
        return relevances;
      } catch (error) {
        await settle();
        throw error;
      }
    },
  };
}

interface Passage {
  readonly text: string;
  readonly title: string | null;
  readonly heading: string;
}

function textOf({ text, title, heading }: Passage): string {
  const parts = [title ?? '', heading, text].filter((part) => part !== '');
  return parts.join('\n').slice(0, limits.rerank.passageCharactersMax);
}
