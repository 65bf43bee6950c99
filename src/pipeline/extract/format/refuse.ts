/** The ways in which a parser says no. */
import { Failure } from '../../../kernel/failure/failure.ts';

export function damaged(what: string, cause?: unknown): Failure {
  return new Failure('parse_error_strict', what, { cause });
}

/** `bound` names the bound for those who look for it, the sentence says how it was passed. */
export function beyond(bound: string, what: string): Failure {
  return new Failure('parse_limit_exceeded', what, { context: { bound } });
}

export function withoutText(what: string): Failure {
  return new Failure('no_usable_content', what);
}

/**
 * Libraries throw whatever they stumble over. To those who wrote the document it means one thing:
 * the file is not what its format asks for.
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
