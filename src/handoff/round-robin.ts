/** Several services that do the same: each request goes to the next available one. */
import { type FailureCode, toFailure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Post } from './worker/orchestrator-client.ts';

/** Another service may have capacity, or be available. */
const movedOn: readonly FailureCode[] = ['network_error', 'provider_unavailable', 'rate_limited'];

/** Throws the failure of the last one, if none could be reached. */
export function spreadPost(posts: readonly Post[], world: Pick<World, 'now'>): Post {
  const awayUntil = posts.map(() => Number.NEGATIVE_INFINITY);
  let turn = 0;
  const inOrder = (): number[] => {
    const first = turn++ % posts.length;
    const places = posts.map((_, index) => (first + index) % posts.length);
    const isAway = (place: number): boolean => (awayUntil[place] ?? 0) > world.now();
    // A service that was away a moment ago is tried last.
    return [...places.filter((place) => !isAway(place)), ...places.filter(isAway)];
  };
  return async (path, body, signal) => {
    let last: unknown;
    for (const place of inOrder()) {
      try {
        return await (posts[place] as Post)(path, body, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!movedOn.includes(toFailure(error).code)) throw error;
        awayUntil[place] = world.now() + limits.handoff.awayMs;
        last = error;
      }
    }
    throw last;
  };
}
