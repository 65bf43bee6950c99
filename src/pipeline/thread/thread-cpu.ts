/** The CPU time of a thread, read from outside while it works. */
import type { Worker } from 'node:worker_threads';

/**
 * In milliseconds since the thread started; 0 if it has ended or not started. Older versions of
 * Node cannot measure it; there the busy time of its event loop is used.
 */
export async function cpuMsOf(thread: Worker): Promise<number> {
  const { cpuUsage } = thread as Partial<Pick<Worker, 'cpuUsage'>>;
  if (!cpuUsage) return thread.performance.eventLoopUtilization().active;
  try {
    const { user, system } = await cpuUsage.call(thread);
    return (user + system) / 1000;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_NOT_RUNNING') throw error;
    return 0;
  }
}
