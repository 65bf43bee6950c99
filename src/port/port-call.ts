/** Calls code that a user plugged in: its errors become failures that name the port. */
import { Failure } from '../kernel/failure/failure.ts';

/**
 * A `Failure` passes through: its code decides the reaction. Any other error is `port_failed`,
 * which is retried. An abort keeps its own reason.
 */
export async function callPort<T>(
  name: string,
  call: () => Promise<T> | T,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await call();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Failure) throw error;
    const said = error instanceof Error ? error.message : String(error);
    throw new Failure('port_failed', `${name} failed: ${said}`, { cause: error });
  }
}
