/**
 * Loaded into `pawl serve` before it starts: writes the longest time that its event loop was
 * blocked, and the most CPU time that it used between two turns of a timer, to a file. SIGUSR2
 * starts the measurement: what the start of a process takes blocks nobody.
 */
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const lookMs = 20;
const file = process.env.LOOP_LOG;
if (isMainThread && file !== undefined && process.argv.includes('serve')) watch(file);

function watch(path: string): void {
  const delay = monitorEventLoopDelay({ resolution: lookMs });
  delay.enable();
  let used = cpuMs();
  let worstCpuMs = 0;
  setInterval(() => {
    const now = cpuMs();
    worstCpuMs = Math.max(worstCpuMs, now - used);
    used = now;
  }, lookMs).unref();
  process.on('SIGUSR2', () => {
    delay.reset();
    worstCpuMs = 0;
  });
  setInterval(() => {
    writeFileSync(path, JSON.stringify({ delayMs: delay.max / 1e6, cpuMs: worstCpuMs }));
  }, 1000).unref();
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
