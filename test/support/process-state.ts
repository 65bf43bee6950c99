/** What Linux reports about another process. */
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Whether it exists, also as a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It exists, but may not be signaled.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a signal has stopped it. The third field of /proc/PID/stat is its state. */
export function isStopped(pid: number | undefined): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

/** Whether it has written a file of this name into its working directory. */
export function hasWritten(pid: number | undefined, name: string): boolean {
  return existsSync(join(readlinkSync(`/proc/${pid}/cwd`), name));
}

/** CPU time that it has used; infinite if it has ended. Its parent alone removes a dead process. */
export function cpuMsOf(pid: number): number {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return Number.POSITIVE_INFINITY;
  const stat = readFileSync(file, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * clockTickMs;
}

/** The unit of times in /proc. */
const clockTickMs = 10;
