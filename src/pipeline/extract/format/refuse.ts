/** The failures of a parser. */
import { Failure } from '../../../kernel/failure/failure.ts';

export function damaged(what: string, cause?: unknown): Failure {
  return new Failure('parse_error_strict', what, { cause });
}

/** `bound` names the limit, the message says how it was exceeded. */
export function beyond(bound: string, what: string): Failure {
  return new Failure('parse_limit_exceeded', what, { context: { bound } });
}

export function withoutText(what: string): Failure {
  return new Failure('no_usable_content', what);
}

/**
 * Libraries throw arbitrary errors. For the author of the document they mean one thing: the file
 * violates its format.
 */
export async function guarded<Result>(
  what: string,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Failure) throw error;
    const why = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw damaged(`${what} cannot be read: ${why?.slice(0, 200)}`, error);
  }
}
