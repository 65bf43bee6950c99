/**
 * All routes in one table. A key is the method and path as a client writes them; a row defines the
 * request, the response and the possible failures. Handlers, validation, types, the typed client
 * and the OpenAPI document are derived from it.
 */
import type { Static, TSchema } from 'typebox';
import { attemptContract } from './operation/attempt.ts';
import { batch } from './operation/batch.ts';
import { callbacks } from './operation/callbacks.ts';
import { callers } from './operation/callers.ts';
import { asking, corpora } from './operation/corpora.ts';
import { history, inbox } from './operation/history.ts';
import { jobs, webhooks } from './operation/jobs.ts';
import { runs } from './operation/runs.ts';
import { service } from './operation/service.ts';
import { services } from './operation/services.ts';
import { sources } from './operation/sources.ts';
import { system } from './operation/system.ts';

export type { Route } from './operation/row.ts';

const documents = { ...jobs, ...webhooks, ...history, ...inbox, ...corpora };

const work = { ...services, ...callbacks };
const about = { ...service, ...system, ...runs, ...callers, ...sources };

export const contract = {
  ...documents,
  ...attemptContract,
  ...batch,
  ...asking,
  ...work,
  ...about,
};

export type Contract = typeof contract;
export type RouteName = keyof Contract;

type PartOf<R, Part extends string> =
  R extends Record<Part, infer S extends TSchema> ? Static<S> : undefined;

/** The request and response types of a route. */
export type ParamsOf<Name extends RouteName> = PartOf<Contract[Name], 'params'>;
export type QueryOf<Name extends RouteName> = PartOf<Contract[Name], 'query'>;
export type BodyOf<Name extends RouteName> = PartOf<Contract[Name], 'body'>;
export type HeadersOf<Name extends RouteName> = PartOf<Contract[Name], 'headers'>;
export type AnswerOf<Name extends RouteName> = PartOf<Contract[Name], 'answer'>;

type Needed<Name extends string, Value> = [Value] extends [undefined]
  ? object
  : Record<never, never> extends Value
    ? { readonly [N in Name]?: Value | undefined }
    : { readonly [N in Name]: Value };

/** A request, with the parts that the route takes. */
export type Asking<Name extends RouteName> = Needed<'params', ParamsOf<Name>> &
  Needed<'query', QueryOf<Name>> &
  Needed<'body', BodyOf<Name>> &
  Needed<'headers', HeadersOf<Name>> & { readonly signal?: AbortSignal | undefined };

/** The argument is optional if all of its parts are. */
export type Asked<Name extends RouteName> =
  Record<never, never> extends Asking<Name> ? [Asking<Name>?] : [Asking<Name>];
