/**
 * Messages of one test file to the runner: the begin and end of a test immediately, and the results
 * in the order of the file.
 */
import { AssertionError } from 'node:assert';
import { readFileSync } from 'node:fs';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export type TestMessage =
  | { readonly kind: 'begun' | 'ended'; readonly name: string }
  | { readonly kind: 'passed'; readonly name: string }
  | { readonly kind: 'skipped'; readonly name: string; readonly reason: string }
  | { readonly kind: 'failed'; readonly name: string; readonly detail: string }
  | { readonly kind: 'spent'; readonly cpuSeconds: number };

const nodeFrame = /^\s+at .*(?:node:internal|node:async_hooks|<anonymous>\)$)/;

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const path: string[] = [];
  for await (const event of events) {
    if (event.type === 'test:dequeue') {
      send({ kind: 'begun', name: event.data.name });
    } else if (event.type === 'test:complete') {
      send({ kind: 'ended', name: event.data.name });
    } else if (event.type === 'test:start') {
      path.splice(event.data.nesting, path.length, event.data.name);
    } else if (event.type === 'test:pass' || event.type === 'test:fail') {
      path.splice(event.data.nesting, path.length, event.data.name);
      const message = messageOf(event, path.join(' > '));
      if (message) send(message);
    }
  }
  send({ kind: 'spent', cpuSeconds: cpuSeconds() });
  // Node reads a reporter as text; this one has already sent everything.
  yield '';
}

const ticksPerSecond = 100;

/** Of this process; on Linux, also of every process that it has started and waited for. */
function cpuSeconds(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / ticksPerSecond;
}

type Ended = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;

/** A group counts only if it failed itself, in a hook: its tests count on their own. */
function messageOf(event: Ended, name: string): TestMessage | undefined {
  const { details, skip, todo } = event.data;
  const isSuite = details.type === 'suite';
  const skipped = skip ?? todo;
  if (skipped !== undefined) {
    const reason = typeof skipped === 'string' ? skipped : 'no reason given';
    return isSuite ? undefined : { kind: 'skipped', name, reason };
  }
  if (event.type === 'test:pass') return isSuite ? undefined : { kind: 'passed', name };
  const error = event.data.details.error as Error & { failureType?: string };
  if (error.failureType === 'subtestsFailed') {
    return isSuite ? undefined : { kind: 'failed', name, detail: '' };
  }
  return { kind: 'failed', name, detail: describe(error.cause ?? error) };
}

/** The error in full, without the frames of Node itself; for an assertion its message suffices. */
function describe(error: unknown): string {
  const text = error instanceof AssertionError ? error.stack : undefined;
  const lines = (text ?? inspect(error, { depth: 8 })).split('\n');
  return lines.filter((line) => !nodeFrame.test(line)).join('\n');
}

function send(message: TestMessage): void {
  process.send?.(message);
}
