/**
 * A sliding window: it counts the requests of the time that ends now, so there is no moment at
 * which a count resets. A refused request is not counted.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { RequestLog } from './request-log.ts';

export interface RateClaim {
  readonly callerId: string;
  readonly limit: number;
  readonly windowMs: number;
  /** Pawl's services have their own pool: they take no share from the others. */
  readonly isSharing: boolean;
}

export interface Taken {
  readonly isAllowed: boolean;
  /** The caller's requests within the window, including this one if it was allowed. */
  readonly count: number;
  /** Time until one more request is allowed. */
  readonly freesInMs: number;
}

export interface RateWindow {
  /** The number of active callers: those seen within the window, and this one. */
  activeCallers(callerId: string): number;
  take(claim: RateClaim): Promise<Taken>;
}

export interface WindowBounds {
  readonly callersMax: number;
  readonly loggedRequestsMax: number;
}

interface CallerWindow {
  readonly log: RequestLog;
  windowMs: number;
}

/** The window of one process. Callers are in the order in which they were last seen. */
export class MemoryWindow implements RateWindow {
  readonly #world: World;
  readonly #bounds: WindowBounds;
  readonly #held = new Map<string, CallerWindow>();
  readonly #seenAt = new Map<string, number>();
  /** Capacity of all logs together: their memory use. */
  #places = 0;
  #clockAt: number;
  #elapsedMs = 0;

  constructor(world: World, bounds: WindowBounds = limits.rate) {
    this.#world = world;
    this.#bounds = bounds;
    this.#clockAt = world.now();
  }

  /** For memory tests. */
  get size(): { readonly callers: number; readonly places: number } {
    return { callers: this.#held.size, places: this.#places };
  }

  activeCallers(callerId: string): number {
    const now = this.#tick();
    for (const [other, seenAt] of this.#seenAt) {
      const isCrowded = this.#seenAt.size > this.#bounds.callersMax;
      if (seenAt + limits.rate.windowMs > now && !isCrowded) break;
      this.#seenAt.delete(other);
    }
    return this.#seenAt.size + (this.#seenAt.has(callerId) ? 0 : 1);
  }

  async take({ callerId, limit, windowMs, isSharing }: RateClaim): Promise<Taken> {
    const now = this.#tick();
    if (isSharing) moveToEnd(this.#seenAt, callerId, now);
    const held = this.#held.get(callerId) ?? { log: new RequestLog(), windowMs };
    const { log } = held;
    held.windowMs = windowMs;
    this.#places -= this.#held.has(callerId) ? log.places : 0;
    log.dropUntil(now - windowMs);
    const isAllowed = log.count < limit;
    if (isAllowed) log.add(now);
    this.#places += log.places;
    moveToEnd(this.#held, callerId, held);
    this.#makeRoom(callerId, now);
    const leavesAt = (log.at(Math.max(0, log.count - limit)) ?? now) + windowMs;
    return { isAllowed, count: log.count, freesInMs: leavesAt - now };
  }

  /** Evicts callers without requests in the window; then, if necessary, others. */
  #makeRoom(present: string, now: number): void {
    for (const [callerId, { log, windowMs }] of this.#held) {
      const isIdle = (log.newest ?? Number.NEGATIVE_INFINITY) + windowMs <= now;
      const isCrowded =
        this.#held.size > this.#bounds.callersMax || this.#places > this.#bounds.loggedRequestsMax;
      if (callerId === present || !(isIdle || isCrowded)) return;
      this.#held.delete(callerId);
      this.#places -= log.places;
    }
  }

  /** Monotonic time: a clock that is set back must neither free nor freeze the window. */
  #tick(): number {
    const clockAt = this.#world.now();
    this.#elapsedMs += Math.max(0, clockAt - this.#clockAt);
    this.#clockAt = clockAt;
    return this.#elapsedMs;
  }
}

function moveToEnd<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}
