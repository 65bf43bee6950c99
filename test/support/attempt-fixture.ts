/** An attempt's registry with real folders, and a log that can be read back. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CancellationFlags, makeCancellationFlags } from '../../src/attempt/cancellation.ts';
import { AttemptRegistry } from '../../src/attempt/registry.ts';
import { Workspaces } from '../../src/attempt/staging/workspace.ts';
import type { Liveness } from '../../src/engine/item/liveness.ts';
import type { AttemptStatus } from '../../src/kernel/lifecycle/attempt.ts';
import { type Log, makeLog } from '../../src/observe/log.ts';
import { type Cleanup, temporaryDirectory } from './temporary.ts';
import { TestWorld } from './test-world.ts';

export interface LogLines {
  readonly log: Log;
  readonly lines: string[];
  /** The lines of one level. */
  of(level: 'info' | 'warn' | 'error'): string[];
}

export function recordingLog(): LogLines {
  const lines: string[] = [];
  const log = makeLog('debug', (line) => lines.push(line));
  return { log, lines, of: (level) => lines.filter((line) => line.startsWith(`pawl: ${level}:`)) };
}

export const aliveProcess: Liveness = {
  host: 'machine/boot/pids',
  pid: 100,
  processStarted: '7',
  isAlive: (pid) => pid === 100,
};

export function setupAttempt(t: Cleanup, replaced: { flags?: CancellationFlags } = {}) {
  const folder = join(temporaryDirectory(t), 'workspaces');
  const world = new TestWorld();
  const { log, lines, of } = recordingLog();
  const workspaces = new Workspaces({ folder, liveness: aliveProcess, world, log });
  const flags = replaced.flags ?? makeCancellationFlags();
  const registry = new AttemptRegistry({ flags, workspaces, world, log });
  const folders = (): string[] => (existsSync(folder) ? readdirSync(folder) : []);
  return { registry, flags, workspaces, world, folder, folders, lines, of };
}

export type AttemptSetup = ReturnType<typeof setupAttempt>;

/** Brings a fresh registry to a status, and returns the id of its attempt. */
export function bringTo({ registry }: AttemptSetup, status: AttemptStatus): string {
  if (status === 'idle') return '';
  const { attemptId } = registry.start();
  const id = attemptId ?? '';
  const ways: Record<Exclude<AttemptStatus, 'idle'>, () => void> = {
    running: () => undefined,
    stopping: () => void registry.stop(),
    paused: () => {
      registry.stop();
      registry.finishCancellation(id, true);
    },
    complete: () => void registry.complete(id),
  };
  ways[status]();
  return id;
}
