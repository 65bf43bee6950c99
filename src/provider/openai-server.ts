/** What the adapters of servers with OpenAI's interface share. */
import type { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { pause, type World } from '../kernel/world.ts';
import { type Asker, type Refusal, readRefusal } from './openai-refusal.ts';
import type { Budget, BudgetLimits } from './rate-limit.ts';

export interface OpenaiServer {
  readonly world: World;
  readonly model: string;
  /** Up to and with the version: `https://api.openai.com/v1`. */
  readonly url: string;
  /** False: the address is the vendor's default, and nobody has named it. */
  readonly isNamed?: boolean | undefined;
  readonly key?: string | undefined;
  readonly budget?: BudgetLimits | undefined;
}

/** The failure that a refusal means. One for the rate closes the budget for the time it names. */
export function refusedBy(budget: Budget, refusal: Refusal, asker: Asker): Failure {
  const failure = readRefusal(refusal, asker);
  if (failure.code === 'rate_limited') {
    budget.close(failure.retryAfterMs ?? limits.wait.retryAfterMsDefault);
  }
  return failure;
}

/** Waits for the running calls, but no longer than a shutdown may take. */
export async function settled(world: World, idle: Promise<void>): Promise<void> {
  const grace = new AbortController();
  await Promise.race([idle, pause(world, limits.loop.shutdownGraceMs, grace.signal)]);
  grace.abort();
}
