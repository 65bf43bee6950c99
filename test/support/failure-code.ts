/** The failure of a call, as its code. */
import { Failure, type FailureCode } from '../../src/kernel/failure/failure.ts';

export async function codeOf(work: Promise<unknown>): Promise<FailureCode | 'no failure'> {
  try {
    await work;
    return 'no failure';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code;
  }
}
