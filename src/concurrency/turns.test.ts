import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../kernel/limits/limits.ts';
import { Turns } from './turns.ts';

/** Computes for a little longer than a slice. */
function compute(): void {
  const endsAt = performance.now() + limits.loop.sliceMs + 1;
  while (performance.now() < endsAt);
}

test('the event loop gets a turn between two long requests', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const request = async (name: string): Promise<void> => {
    await turns.next();
    compute();
    order.push(name);
    setImmediate(() => order.push(`after ${name}`));
  };
  await Promise.all(['a', 'b', 'c'].map(request));
  assert.deepEqual(order, ['a', 'after a', 'b', 'after b', 'c']);
});

test('a request runs up to its first wait before the next one starts', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const request = async (name: string): Promise<void> => {
    await turns.next();
    for (const step of [1, 2, 3]) {
      order.push(`${name}${step}`);
      await undefined;
    }
  };
  await Promise.all(['a', 'b'].map(request));
  assert.deepEqual(order, ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
});

test('requests that come later are served as well', async () => {
  const turns = new Turns();
  await turns.next();
  await Promise.all([turns.next(), turns.next()]);
  await turns.next();
});
