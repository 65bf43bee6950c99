/**
 * The rate limit of a provider in requests and tokens per minute, shared by all items of this
 * process. A bucket refills by computation, not by a timer. A request beyond the limit fails with
 * `rate_limited` and the time to wait, which makes its item wait.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';

export interface BudgetLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
}

/** What is left of the current minute. */
export interface Pace extends BudgetLimits {
  readonly provider: string;
  readonly requestsLeft: number;
  readonly tokensLeft: number;
  /** No request is sent before this time. */
  readonly closedUntil: number;
}

const minuteMs = 60_000;

export class Budget {
  readonly #world: World;
  readonly #provider: string;
  readonly #limits: BudgetLimits;
  #requests: number;
  #tokens: number;
  #filledAt: number;
  #closedUntil = 0;

  constructor(provider: string, world: World, budget: BudgetLimits = limits.budget) {
    this.#provider = provider;
    this.#world = world;
    this.#limits = budget;
    this.#requests = budget.requestsPerMinute;
    this.#tokens = budget.tokensPerMinute;
    this.#filledAt = world.now();
  }

  /** Takes one request of so many tokens, or throws `rate_limited` with the time to wait. */
  take(tokens: number): void {
    this.#refill();
    const waitMs = Math.max(
      this.#closedUntil - this.#world.now(),
      msUntil(1 - this.#requests, this.#limits.requestsPerMinute),
      // A request larger than a minute's tokens would never fit: it is sent when the bucket is
      // full.
      msUntil(
        Math.min(tokens, this.#limits.tokensPerMinute) - this.#tokens,
        this.#limits.tokensPerMinute,
      ),
    );
    if (waitMs > 0) {
      throw new Failure(
        'rate_limited',
        `${this.#provider}: the rate limit of this minute is used up`,
        {
          retryAfterMs: waitMs,
          context: { provider: this.#provider },
        },
      );
    }
    this.#requests -= 1;
    this.#tokens -= tokens;
  }

  /** The provider asked for a pause: this process sends nothing before that time. */
  close(forMs: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, this.#world.now() + forMs);
  }

  look(): Pace {
    this.#refill();
    return {
      provider: this.#provider,
      ...this.#limits,
      requestsLeft: Math.max(0, this.#requests),
      tokensLeft: Math.max(0, this.#tokens),
      closedUntil: this.#closedUntil,
    };
  }

  #refill(): void {
    const now = this.#world.now();
    const share = Math.max(0, now - this.#filledAt) / minuteMs;
    const { requestsPerMinute, tokensPerMinute } = this.#limits;
    this.#requests = Math.min(requestsPerMinute, this.#requests + share * requestsPerMinute);
    this.#tokens = Math.min(tokensPerMinute, this.#tokens + share * tokensPerMinute);
    this.#filledAt = now;
  }
}

function msUntil(missing: number, perMinute: number): number {
  return missing <= 0 ? 0 : Math.ceil((missing / perMinute) * minuteMs);
}
