/** Decides whether a request is within its caller's limit, with the strategies and the window. */
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { type CallerContext, localCaller } from '../caller.ts';
import type { Pool } from './rate-limit-pool.ts';
import {
  compositeStrategy,
  fairShareStrategy,
  membershipTierStrategy,
  standardShare,
} from './strategy.ts';
import { MemoryWindow, type RateWindow } from './window.ts';

export interface RateDecision {
  readonly allowed: boolean;
  /** The caller's requests plus the burst. */
  readonly limit: number;
  readonly remaining: number;
  /** The window of the limit. */
  readonly windowSeconds: number;
  /** When one more request will be possible. */
  readonly resetAtMs: number;
  /** At least 1 for a refused request, else 0. */
  readonly retryAfterSeconds: number;
}

export interface LimitOptions {
  readonly world: World;
  readonly rateCapacity?: number | undefined;
  readonly rateFloor?: number | undefined;
  /** Requests per hour by tier. */
  readonly rateTiers?: Readonly<Record<string, number>> | undefined;
  /** A shared window, which falls back to the given local one during an outage. */
  readonly windowFor?: ((pool: Pool, near: RateWindow) => RateWindow) | undefined;
}

export type Admit = (caller: CallerContext, pool: Pool) => Promise<RateDecision>;

export function openLimits(options: LimitOptions): Admit {
  const { world, windowFor } = options;
  const capacity = options.rateCapacity ?? standardShare.capacity;
  const floor = options.rateFloor ?? standardShare.floor;
  const strategy = compositeStrategy(
    fairShareStrategy({ ...standardShare, capacity, floor }),
    membershipTierStrategy(options.rateTiers ?? limits.rate.tiers, floor),
  );
  const windowIn = (pool: Pool): RateWindow => {
    const near = new MemoryWindow(world);
    return windowFor?.(pool, near) ?? near;
  };
  const windows: Readonly<Record<Pool, RateWindow>> = {
    jobs: windowIn('jobs'),
    scrape: windowIn('scrape'),
    chunk: windowIn('chunk'),
    embed: windowIn('embed'),
  };
  return async (caller, pool) => {
    // The owner of the machine is the only caller, so nothing is counted.
    if (caller === localCaller) return unlimited(capacity, world);
    const { shownId: callerId } = caller;
    const window = windows[pool];
    const { requests, burst, windowSeconds } = strategy(caller, window.activeCallers(callerId));
    const limit = requests + burst;
    const claim = { callerId, limit, windowMs: windowSeconds * 1000, isSharing: !caller.internal };
    const { isAllowed, count, freesInMs } = await window.take(claim);
    return {
      allowed: isAllowed,
      limit,
      remaining: Math.max(0, limit - count),
      windowSeconds,
      resetAtMs: world.now() + freesInMs,
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, Math.ceil(freesInMs / 1000)),
    };
  };
}

const hourSeconds = 3600;

function unlimited(limit: number, world: World): RateDecision {
  const all = { allowed: true, limit, remaining: limit, windowSeconds: hourSeconds };
  return { ...all, resetAtMs: world.now(), retryAfterSeconds: 0 };
}
