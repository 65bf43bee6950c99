/** Load on the machine, to find tests that depend on its speed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

const perCore = 4;
/** Set to 1, it slows down the pages of browser tests, as `--loaded` does. */
export const slowPagesVariable = 'TEST_SLOW_PAGES';

/** Ends when its parent process is gone. */
const program = 'const parent = process.ppid; while (process.ppid === parent);';

/** Keeps every core busy, several times over; returns the function that stops it. */
export function startLoad(): () => void {
  const count = perCore * availableParallelism();
  const children = Array.from({ length: count }, (): ChildProcess => {
    return spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
  });
  return () => {
    for (const child of children) child.kill('SIGKILL');
  };
}
