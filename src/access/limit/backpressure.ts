/** The service protects itself: whoever would add to a queue that is too deep is asked to wait. */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';

/** The refusal for a queue of this depth, or undefined if there is room. Regards no caller. */
export function backpressure(
  depth: number,
  max: number = limits.rate.queueDepthMax,
): Failure | undefined {
  if (depth <= max) return undefined;
  return new Failure('queue_full', `${depth} items are waiting, and ${max} may`, {
    retryAfterMs: limits.rate.queueRetryAfterMs,
  });
}
