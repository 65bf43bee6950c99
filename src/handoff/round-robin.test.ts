import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestWorld } from '../../test/support/test-world.ts';
import { Failure, type FailureCode } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { spreadPost } from './round-robin.ts';
import type { Post } from './worker/orchestrator-client.ts';

function setup(count: number) {
  const world = new TestWorld();
  const asked: number[] = [];
  const broken = new Map<number, FailureCode>();
  const posts = Array.from(
    { length: count },
    (_, place): Post =>
      async () => {
        asked.push(place);
        const code = broken.get(place);
        if (code) throw new Failure(code, `${place} says no`);
        return { place };
      },
  );
  const post = spreadPost(posts, world);
  const send = async () => (await post('/chunk', {})).place;
  return { world, asked, broken, send };
}

describe('several services that do the same', () => {
  test('get requests in turn', async () => {
    const { send } = setup(3);
    const places = [await send(), await send(), await send(), await send()];
    assert.deepEqual(places, [0, 1, 2, 0]);
  });

  test('replace one that is away, which is skipped for a while', async () => {
    const { world, asked, broken, send } = setup(2);
    broken.set(0, 'network_error');
    assert.deepEqual([await send(), await send(), await send()], [1, 1, 1]);
    assert.deepEqual(asked, [0, 1, 1, 1]);
    broken.clear();
    await world.advance(limits.handoff.awayMs + 1);
    assert.deepEqual(new Set([await send(), await send()]), new Set([0, 1]));
  });

  test('are all tried before the last failure is reported', async () => {
    const { asked, broken, send } = setup(2);
    broken.set(0, 'provider_unavailable').set(1, 'rate_limited');
    await assert.rejects(send(), { code: 'rate_limited', message: '1 says no' });
    assert.deepEqual(asked, [0, 1]);
    broken.clear();
    assert.equal(await send(), 1);
  });

  test('do not get a text that one of them has refused', async () => {
    const { asked, broken, send } = setup(2);
    broken.set(0, 'payload_too_large');
    await assert.rejects(send(), { code: 'payload_too_large' });
    assert.deepEqual(asked, [0]);
  });
});
