/** The time in which an open Pawl can be used. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../../kernel/failure/failure.ts';
import { Lifetime } from './lifetime.ts';

describe('a lifetime', () => {
  test('ends after its running calls, and refuses the next one', async () => {
    const lifetime = new Lifetime();
    const story: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = lifetime.run(async () => {
      await promise;
      story.push('call');
    });
    const end = lifetime.end().then(() => story.push('end'));
    await assert.rejects(
      lifetime.run(async () => 1),
      { code: 'pawl_closed', message: /closed/, advice: /open\(\)/ },
    );
    resolve();
    await Promise.all([call, end]);
    assert.deepEqual(story, ['call', 'end']);
  });

  test('rejects with the reason of a signal, and still waits for the call', async () => {
    const lifetime = new Lifetime();
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    let isFinished = false;
    const call = lifetime.run(async () => {
      await promise;
      isFinished = true;
    }, controller.signal);
    const reason = new Error('enough');
    controller.abort(reason);
    await assert.rejects(call, (error) => error === reason);
    const end = lifetime.end();
    resolve();
    await end;
    assert.equal(isFinished, true);
  });

  test('does not begin a call with an aborted signal', async () => {
    let isBegun = false;
    const begin = async () => {
      isBegun = true;
    };
    await assert.rejects(new Lifetime().run(begin, AbortSignal.abort()), { name: 'AbortError' });
    assert.equal(isBegun, false);
  });

  test('turns every error into a failure, and keeps a failure as it is', async () => {
    const lifetime = new Lifetime();
    const known = new Failure('corpus_unknown', 'there is no corpus "x"');
    await assert.rejects(
      lifetime.run(() => Promise.reject(known)),
      (error) => error === known,
    );
    const odd = Object.assign(new Error('disk'), { code: 'ENOSPC' });
    await assert.rejects(
      lifetime.run(() => Promise.reject(odd)),
      { name: 'Failure', code: 'storage_full' },
    );
  });
});
