/**
 * Calls routes of the contract in this process, under the names of the library. The contract and
 * its validators are loaded with the first call, so that they do not delay the start.
 */
import type { TSchema } from 'typebox';
import type { AnswerOf, Route } from '../../contract/contract.ts';
import type { Ask, StoreRoute } from '../local-ask.ts';
import type { List, Page } from '../surface.ts';
import { type Camelize, camelize } from './camel.ts';
import type { Lifetime } from './lifetime.ts';
import { type ListOptions, listOf, type PageForm, type PageQuery } from './list.ts';
import { checkObject } from './names.ts';
import type { Asked, Validator } from './request.ts';

export interface Calling extends Asked {
  /** The parameters of the path. */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

type EntryOf<Answer> = Answer extends { readonly items: readonly (infer Entry)[] } ? Entry : never;
/** Routes that answer with a page. */
type ListRoute = {
  [Name in StoreRoute]: AnswerOf<Name> extends { next_cursor: string | null } ? Name : never;
}[StoreRoute];

export class ContractCalls {
  readonly #ask: Ask;
  readonly #lifetime: Lifetime;
  readonly #validators = new Map<TSchema, Validator>();

  constructor(ask: Ask, lifetime: Lifetime) {
    this.#ask = ask;
    this.#lifetime = lifetime;
  }

  async call<Name extends StoreRoute>(
    name: Name,
    { own = [], ...calling }: Calling,
  ): Promise<Camelize<AnswerOf<Name>>> {
    this.#lifetime.check();
    const { signal } = checkObject(calling.what, calling.given) as { signal?: AbortSignal };
    const { contract } = await import('../../contract/contract.ts');
    const route: Route = contract[name];
    const request = await this.#requestOf(route, { ...calling, own: [...own, 'signal'] });
    const answer = await this.#lifetime.run(() => this.#ask(name, request as never), signal);
    return camelize(route.answer, answer);
  }

  /** A list of the contract. `given` is its filter, with the options of a list. */
  list<Name extends ListRoute>(
    name: Name,
    calling: Calling,
    form?: PageForm,
  ): List<EntryOf<Camelize<AnswerOf<Name>>>> {
    type Entry = EntryOf<Camelize<AnswerOf<Name>>>;
    const { limit, signal, ...filter } = checkObject(calling.what, calling.given) as ListOptions;
    const own = ['limit', 'signal'];
    const read = async (
      page: PageQuery,
      aborting: AbortSignal | undefined,
    ): Promise<Page<Entry>> => {
      const given = { ...filter, signal: aborting };
      const fixed = { ...calling.fixed, limit: page.limit, cursor: page.cursor };
      const answer = await this.call(name, { ...calling, given, fixed, own });
      return answer as unknown as Page<Entry>;
    };
    return listOf(read, { limit, signal }, form);
  }

  async #requestOf(route: Route, { params: fixed, ...asked }: Calling) {
    const params = route.params && (await this.read(route.params, { ...asked, given: {}, fixed }));
    const request = await this.read(route.body ?? route.query ?? nothing, asked);
    return { ...(params && { params }), [route.body ? 'body' : 'query']: request };
  }

  /** Options under the names of the contract, validated by a schema. */
  async read(schema: TSchema, asked: Asked): Promise<Record<string, unknown>> {
    const { checkerFor } = await import('../../contract/wrong-value.ts');
    const { requestOf } = await import('./request.ts');
    return requestOf(schema, asked, (needed) => {
      const known = this.#validators.get(needed) ?? checkerFor(needed);
      this.#validators.set(needed, known);
      return known;
    });
  }
}

/** The request of a route without a body and a query. */
const nothing = { type: 'object', properties: {}, additionalProperties: false } as TSchema;
