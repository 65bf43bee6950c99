/** What Linux reports about another process. */
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Whether a signal has stopped it. The third field of /proc/PID/stat is its state. */
export function isStopped(pid: number | undefined): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

/** Whether it has written a file of this name into its working directory. */
export function hasWritten(pid: number | undefined, name: string): boolean {
  return existsSync(join(readlinkSync(`/proc/${pid}/cwd`), name));
}
