/** Answers routes of the contract in this process, with the handlers of the HTTP API. */
import { localCaller } from '../access/caller.ts';
import type { Assembled } from '../app/wire.ts';
import type { AnswerEvent } from '../contract/schema/answer.ts';
import { answerEvents, type Question } from '../service/handler/ask.ts';
import { type Ask, askInProcess, storeRoutes } from '../service/in-process.ts';
import { QueueCapacity } from '../service/queue-capacity.ts';
import type { StoreService } from '../service/service.ts';
import { ItemCounts } from '../service/view/item-counts.ts';
import { JobViews } from '../service/view/job-views.ts';
import { ProgressBoard } from '../service/view/progress-board.ts';
import { countWaiting } from '../store/item/places.ts';

export type { Ask, StoreRoute } from '../service/in-process.ts';

export interface LocalAsk {
  readonly ask: Ask;
  /** An answer as it is written. */
  answer(body: Question, signal: AbortSignal): AsyncGenerator<AnswerEvent>;
}

/** The caller is the owner of the store. */
export function localAsk(assembled: Assembled): LocalAsk {
  const { database, engine, world, lifecycle } = assembled;
  const standings = new ItemCounts({ database, world });
  const service: StoreService = {
    ...assembled,
    commands: engine.commands,
    batch: assembled.batch.commands,
    callers: engine.callers,
    sources: engine.sources,
    isLocal: true,
    jobs: new JobViews({ database, world, standings, lifecycle }).shown,
    progress: new ProgressBoard(),
    capacity: new QueueCapacity({ world, count: () => countWaiting(database) }),
    // Webhooks, an audit log and metrics belong to a service.
    webhooks: { secret: undefined, ring: () => undefined },
    audit: { emit: () => undefined },
    metrics: { seeSearch: () => undefined },
  };
  return {
    ask: askInProcess(storeRoutes(service), localCaller),
    answer: (body, signal) => answerEvents(service, { caller: localCaller, body, signal }),
  };
}
