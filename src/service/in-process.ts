/**
 * Answers routes of the contract in this process, for the library, the CLI and MCP: the handlers of
 * the HTTP API, the same validation, and the same JSON.
 */
import type { CallerContext } from '../access/caller.ts';
import { type AnswerOf, type Asked, contract, type Route } from '../contract/contract.ts';
import { type Convert, validatorCompiler } from '../contract/validation.ts';
import { askRoute } from './handler/ask.ts';
import { batchRoutes } from './handler/batch.ts';
import { callerRoutes, shareRoutes } from './handler/callers.ts';
import { chunkingRoutes, corpusRoutes, documentRoutes, entityRoutes } from './handler/corpora.ts';
import { eventRoutes } from './handler/history.ts';
import { inboxRoutes } from './handler/inbox.ts';
import { jobRoutes, steeringRoutes, submitRoutes } from './handler/jobs.ts';
import { runRoutes } from './handler/runs.ts';
import { searchRoutes } from './handler/search.ts';
import { sourceRoutes } from './handler/sources.ts';
import { systemRoutes } from './handler/system.ts';
import { webhookRoutes } from './handler/webhooks.ts';
import type { StoreAsk, StoreService } from './service.ts';

/** The handlers of all routes that need no HTTP request. */
export function storeRoutes(service: StoreService) {
  return {
    ...submitRoutes(service),
    ...jobRoutes(service),
    ...steeringRoutes(service),
    ...webhookRoutes(service),
    ...eventRoutes(service),
    ...inboxRoutes(service),
    ...corpusRoutes(service),
    ...chunkingRoutes(service),
    ...shareRoutes(service),
    ...callerRoutes(service),
    ...documentRoutes(service),
    ...entityRoutes(service),
    ...runRoutes(service),
    ...batchRoutes(service),
    ...searchRoutes(service),
    ...askRoute(service),
    ...sourceRoutes(service),
    ...systemRoutes(service),
  };
}

export type StoreRoutes = ReturnType<typeof storeRoutes>;
export type StoreRoute = keyof StoreRoutes;

export type Ask = <Name extends StoreRoute>(
  name: Name,
  ...asking: Asked<Name>
) => Promise<AnswerOf<Name>>;

/** The parts of a request that are validated, under the names that the validator reports. */
const parts = { params: 'params', query: 'querystring', body: 'body' } as const;

type Check = (value: unknown) => { value?: unknown; error?: Error };
const checks = new WeakMap<object, Check>();

export function askInProcess(handlers: StoreRoutes, caller: CallerContext): Ask {
  return async (name, ...[asking]) => {
    const given = (asking ?? {}) as Readonly<Record<string, unknown>> & { signal?: AbortSignal };
    given.signal?.throwIfAborted();
    const route: Route = contract[name];
    const checked = { params: {}, query: {}, body: {} };
    for (const part of Object.keys(parts) as (keyof typeof parts)[]) {
      if (route[part]) checked[part] = await checkedPart(route, part, given[part]);
    }
    const ask = { caller, ...checked, headers: given.headers ?? {}, log: silent, reply: noReply };
    const handler = handlers[name] as unknown as (ask: StoreAsk<typeof name>) => Promise<unknown>;
    const answer = await handler(ask as unknown as StoreAsk<typeof name>);
    // The same JSON as over HTTP: undefined fields are absent, and objects are plain.
    return JSON.parse(JSON.stringify(answer)) as AnswerOf<typeof name>;
  };
}

async function checkedPart(
  route: Route,
  part: keyof typeof parts,
  value: unknown,
): Promise<object> {
  const schema = route[part] as object;
  let check = checks.get(schema);
  if (!check) {
    check = checkFor(schema, part, (_, each) => each);
    checks.set(schema, check);
  }
  const given = definedOf(value);
  let result = check(given);
  if (result.error && part !== 'body') {
    // A model may write a number as text. What converts it is large, and seldom needed.
    const { Convert: convert } = await import('typebox/value');
    result = checkFor(schema, part, convert)(given);
  }
  if (result.error) throw result.error;
  return (result.value ?? {}) as object;
}

function checkFor(schema: object, part: keyof typeof parts, convert: Convert): Check {
  const place = { schema, method: '', url: '', httpPart: parts[part] };
  return validatorCompiler(convert)(place) as unknown as Check;
}

/** A field that is undefined is absent, as in JSON. */
function definedOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? {};
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}

/** Logs and response headers belong to HTTP. */
const silent = { info: () => undefined };
const noReply = { header: () => undefined };
