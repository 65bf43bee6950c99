/**
 * The hash that distinguishes requests with the same Idempotency-Key: it covers their content,
 * independent of the order of JSON keys. Long lists are hashed in slices, so that the event loop
 * stays free.
 */
import { createHash } from 'node:crypto';
import { TimeSlice } from '../concurrency/time-slice.ts';

export async function requestHash(request: unknown): Promise<string> {
  const hash = createHash('sha256');
  const slice = new TimeSlice();
  for (const [name, value] of entriesOf(request)) {
    // Names and lengths are included, so that no two requests give the same sequence.
    const entries = Array.isArray(value) ? value : [value];
    hash.update(`${JSON.stringify(name)}:${Array.isArray(value) ? entries.length : ''}\n`);
    for (const entry of entries) {
      if (slice.isOver) await slice.next();
      hash.update(`${JSON.stringify(entry, inOrder)}\n`);
    }
  }
  return hash.digest('hex');
}

function entriesOf(request: unknown): [name: string, value: unknown][] {
  return isObject(request) ? sorted(request) : [['', request]];
}

function inOrder(_: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(sorted(value)) : value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(value: object): [name: string, value: unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
