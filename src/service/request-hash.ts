/**
 * What tells two requests with one Idempotency-Key apart: their content, in whatever order a client
 * writes the keys of its JSON. A long list is read some entries at a time, so that others have
 * their turns.
 */
import { createHash } from 'node:crypto';
import { TimeSlice } from '../concurrency/time-slice.ts';

export async function requestHash(request: unknown): Promise<string> {
  const hash = createHash('sha256');
  const slice = new TimeSlice();
  for (const [name, value] of entriesOf(request)) {
    // Names and lengths go in as well: no two requests give the same sequence.
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
