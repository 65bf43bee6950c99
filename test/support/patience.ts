/**
 * How long tests wait. These bounds exist only to report a hang as a failure: none of them says how
 * fast something has to be. They hold on one core that many other processes share. To see a test
 * fail sooner while you work on it, shorten them all: `TEST_PATIENCE=0.1 npm test -- FILE`.
 */
const minute = 60_000 * Number(process.env.TEST_PATIENCE ?? 1);

export const patience = {
  /** For one awaited event: a line of output, a state, a server that accepts connections. */
  eventMs: 3 * minute,
  /** For one test, one job, or a process that one test has started. */
  testMs: 10 * minute,
  /** For one test file, or a process that all tests of a file share. */
  fileMs: 30 * minute,
} as const;

/** Aborts a call that hangs. */
export function hangSignal(): AbortSignal {
  return AbortSignal.timeout(patience.eventMs);
}
