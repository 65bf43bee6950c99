/**
 * Identifies this process, so that another process on the same machine can see its death
 * immediately.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import process from 'node:process';

export interface Liveness {
  /** Machine, boot and process namespace: pids are unique only within one. */
  readonly host: string;
  readonly pid: number;
  readonly processStarted: string;
  isAlive(pid: number, processStarted: string): boolean;
}

export function thisProcess(): Liveness {
  return {
    host: [hostname(), read('/proc/sys/kernel/random/boot_id'), namespace()].join('/'),
    pid: process.pid,
    processStarted: startOf(process.pid),
    isAlive: (pid, processStarted) =>
      isRunning(pid) && startOf(pid) === processStarted && stateOf(pid) !== 'Z',
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists, but may not be signaled.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A pid may be reused; the start time distinguishes the processes. */
function startOf(pid: number): string {
  return statOf(pid)[19] ?? '';
}

/** Z: a zombie, which its parent may never reap. */
function stateOf(pid: number): string {
  return statOf(pid)[0] ?? '';
}

/** The fields after the name, which may itself contain spaces and brackets. */
function statOf(pid: number): string[] {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return ''; // Not Linux: the host name has to do.
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return ''; // Not Linux, or the process has just gone: no start time is a fine answer.
  }
}
