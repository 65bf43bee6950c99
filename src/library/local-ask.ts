/** Answers routes of the contract in this process, with the handlers of the HTTP API. */
import { localCaller } from '../access/caller.ts';
import type { Assembled } from '../app/wire.ts';
import type { AnswerOf, Asked, RouteName } from '../contract/contract.ts';
import { callerRoutes, shareRoutes } from '../service/handler/callers.ts';
import { corpusRoutes, documentRoutes, entityRoutes } from '../service/handler/corpora.ts';
import { eventRoutes } from '../service/handler/history.ts';
import { inboxRoutes } from '../service/handler/inbox.ts';
import { jobRoutes, steeringRoutes } from '../service/handler/jobs.ts';
import { searchRoutes } from '../service/handler/search.ts';
import { sourceRoutes } from '../service/handler/sources.ts';
import type { StoreAsk, StoreService } from '../service/service.ts';
import { ItemCounts } from '../service/view/item-counts.ts';
import { JobViews } from '../service/view/job-views.ts';
import { ProgressBoard } from '../service/view/progress-board.ts';

function handlersOf(service: StoreService) {
  return {
    ...jobRoutes(service),
    ...steeringRoutes(service),
    ...eventRoutes(service),
    ...inboxRoutes(service),
    ...corpusRoutes(service),
    ...documentRoutes(service),
    ...entityRoutes(service),
    ...shareRoutes(service),
    ...callerRoutes(service),
    ...searchRoutes(service),
    ...sourceRoutes(service),
  };
}

/** The routes that need no HTTP request. */
export type StoreRoute = keyof ReturnType<typeof handlersOf>;

export type Ask = <Name extends StoreRoute>(
  name: Name,
  ...asking: Asked<Name>
) => Promise<AnswerOf<Name>>;

/** The caller is the owner of the store. */
export function localAsk(assembled: Assembled): Ask {
  const { database, engine, world, lifecycle } = assembled;
  const standings = new ItemCounts({ database, world });
  const handlers = handlersOf({
    ...assembled,
    commands: engine.commands,
    callers: engine.callers,
    sources: engine.sources,
    isLocal: true,
    jobs: new JobViews({ database, standings, lifecycle }).shown,
    progress: new ProgressBoard(),
    // An audit log and metrics belong to a service.
    audit: { emit: () => undefined },
    metrics: { seeSearch: () => undefined },
  });
  return async (name, ...[asking]) => {
    const handler = handlers[name] as (ask: StoreAsk<RouteName>) => Promise<unknown>;
    const request = { caller: localCaller, query: {}, body: {}, params: {}, ...asking };
    return (await handler(request as StoreAsk<RouteName>)) as AnswerOf<typeof name>;
  };
}
