import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeLatch, TestWorld } from '../../../test/support/test-world.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Json } from '../request.ts';
import { type BatchedCall, CallBatches } from './call-batches.ts';

const beat = (handoff: string): BatchedCall => {
  return { job_id: 'job', heartbeat: { handoff, epoch: 1 } };
};
const page = (handoff: string, bytes: string): BatchedCall => {
  return { job_id: 'job', complete: { handoff, bytes } };
};

function handoffOf(call: BatchedCall): string {
  return String((call.heartbeat ?? call.complete ?? call.begin)?.handoff);
}

/** `reply` gets the handoffs of a batch; by default each gets its own name back. */
function setup(reply: (names: string[]) => unknown[] = (names) => names.map(named)) {
  const batches: string[][] = [];
  const latch = { ...makeLatch() };
  let isHeld = false;
  const post = async (path: string, { calls }: Json) => {
    assert.equal(path, '/callbacks');
    const names = (calls as BatchedCall[]).map(handoffOf);
    batches.push(names);
    if (isHeld) await latch.opened;
    return { replies: reply(names) };
  };
  const calls = new CallBatches(post, new TestWorld());
  const send = (...all: BatchedCall[]) => Promise.allSettled(all.map((one) => calls.send(one)));
  const hold = () => {
    isHeld = true;
    return () => latch.open();
  };
  return { batches, send, hold };
}

const named = (name: string) => ({ heartbeat: { status: name } });

function ended(ends: readonly PromiseSettledResult<Json>[]): unknown[] {
  return ends.map((end) => (end.status === 'fulfilled' ? end.value.status : end.reason.code));
}

describe('callbacks of one worker', () => {
  test('made in one turn are one request, and each gets its own response', async () => {
    const { batches, send } = setup();
    assert.deepEqual(ended(await send(beat('a'), beat('b'), beat('c'))), ['a', 'b', 'c']);
    assert.deepEqual(batches, [['a', 'b', 'c']]);
  });

  test('made while requests are running share the next one', async () => {
    const { batches, send, hold } = setup();
    const letGo = hold();
    const { callRequestsMax } = limits.handoff;
    const names = Array.from({ length: callRequestsMax }, (_, place) => `first ${place}`);
    const first: Promise<unknown>[] = [];
    for (const name of names) {
      first.push(send(beat(name)));
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const later = [send(beat('a')), send(beat('b'))];
    letGo();
    await Promise.all([...first, ...later]);
    assert.deepEqual(batches, [...names.map((name) => [name]), ['a', 'b']]);
  });

  test('with much data are several requests', async () => {
    const { batches, send } = setup();
    const half = 'x'.repeat(limits.handoff.callBatchCharactersMax / 2);
    await send(page('a', half), page('b', half), page('c', half));
    assert.deepEqual(new Set(batches.flat()), new Set(['a', 'b', 'c']));
    assert.deepEqual(
      batches.map(({ length }) => length),
      [2, 1],
    );
  });

  test('are refused one by one', async () => {
    const { send } = setup((names) =>
      names.map((name) =>
        name === 'b' ? { error: { code: 'job_unknown', detail: 'gone' } } : named(name),
      ),
    );
    assert.deepEqual(ended(await send(beat('a'), beat('b'))), ['a', 'job_unknown']);
  });

  test('are sent alone if the request is refused as a whole', async () => {
    const { batches, send } = setup((names) => {
      if (names.includes('b')) throw new Failure('payload_too_large', 'it answered 413');
      return names.map(named);
    });
    const ends = ended(await send(beat('a'), beat('b'), beat('c')));
    assert.deepEqual(ends, ['a', 'payload_too_large', 'c']);
    assert.deepEqual(batches, [['a', 'b', 'c'], ['a'], ['b'], ['c']]);
  });

  test('fail together while the orchestrator is away: their runs call again', async () => {
    const { batches, send } = setup(() => {
      throw new Failure('network_error', 'refused');
    });
    const ends = ended(await send(beat('a'), beat('b')));
    assert.deepEqual(ends, ['network_error', 'network_error']);
    assert.equal(batches.length, 1);
  });

  test('that the response had no room for are sent again', async () => {
    const { batches, send } = setup((names) =>
      names.map((name, place) => (place === 0 ? named(name) : {})),
    );
    assert.deepEqual(ended(await send(beat('a'), beat('b'), beat('c'))), ['a', 'b', 'c']);
    assert.deepEqual(batches, [['a', 'b', 'c'], ['b'], ['c']]);
  });

  test('wait for an orchestrator that is too old for them', async () => {
    const { send } = setup(() => {
      throw new Failure('job_unknown', 'it answered 404');
    });
    assert.deepEqual(ended(await send(beat('a'))), ['provider_unavailable']);
  });

  test('are not answered by a response of another length', async () => {
    const { send } = setup(() => []);
    assert.deepEqual(ended(await send(beat('a'))), ['network_error']);
  });
});
