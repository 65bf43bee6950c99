/**
 * The cost of a piece of work: its time, the CPU of this process and of the server, and the CPU of
 * other processes meanwhile, which shows how reliable the rest is. Read from `/proc` on Linux;
 * elsewhere the last two are unknown.
 */
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

export interface Usage {
  readonly seconds: number;
  readonly clientSeconds: number;
  readonly serverSeconds: number | undefined;
  /** CPU seconds that were neither ours nor the server's. */
  readonly foreignSeconds: number | undefined;
}

export async function measured(work: () => unknown, serverPid: number | undefined): Promise<Usage> {
  const machineBefore = machineSeconds();
  const serverBefore = serverSeconds(serverPid);
  const clientBefore = process.cpuUsage();
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const client = process.cpuUsage(clientBefore);
  const clientSeconds = (client.user + client.system) / 1e6;
  const machine = difference(machineSeconds(), machineBefore);
  // Recently closed connections are counted reliably only once their end is noticed.
  if (serverPid !== undefined) await pause(reapMs);
  const server = difference(serverSeconds(serverPid), serverBefore);
  const ours = clientSeconds + (server ?? 0);
  return {
    seconds,
    clientSeconds,
    serverSeconds: server,
    foreignSeconds: machine === undefined ? undefined : Math.max(0, machine - ours),
  };
}

const reapMs = 50;

/** The sum of two pieces of work. */
export function together(first: Usage, second: Usage): Usage {
  const sum = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined || b === undefined ? undefined : a + b;
  return {
    seconds: first.seconds + second.seconds,
    clientSeconds: first.clientSeconds + second.clientSeconds,
    serverSeconds: sum(first.serverSeconds, second.serverSeconds),
    foreignSeconds: sum(first.foreignSeconds, second.foreignSeconds),
  };
}

/** Linux counts in hundredths of a second, independent of the kernel's own clock. */
const ticksPerSecond = 100;

function machineSeconds(): number | undefined {
  const line = read('/proc/stat').split('\n')[0] ?? '';
  const [user, nice, system, , , interrupt, softInterrupt] = line.trim().split(/\s+/).slice(1);
  const busy = [user, nice, system, interrupt, softInterrupt].map(Number);
  return line === '' ? undefined : busy.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond;
}

/** The CPU of the server, of its children, and of those already reaped. */
export function serverSeconds(pid: number | undefined): number | undefined {
  if (pid === undefined) return 0;
  const root = processTicks(pid);
  if (!root) return undefined;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processTicks(Number(name)))
    .filter((each) => each?.parent === pid);
  return [root, ...children].reduce((sum, each) => sum + (each?.ticks ?? 0), 0) / ticksPerSecond;
}

function processTicks(pid: number): { parent: number; ticks: number } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + field, 0);
  return { parent: fields[1] ?? 0, ticks };
}

function difference(after: number | undefined, before: number | undefined): number | undefined {
  return after === undefined || before === undefined ? undefined : after - before;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // Not Linux, or the process has just gone.
  }
}
