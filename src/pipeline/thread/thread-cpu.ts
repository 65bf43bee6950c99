/** How much CPU time a thread has used, asked from outside while it works. */
import type { Worker } from 'node:worker_threads';

/**
 * In milliseconds since the thread began. A thread that has ended, or has not begun, has used none.
 * Older versions of Node cannot tell; there the time that its event loop was busy stands for it.
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
