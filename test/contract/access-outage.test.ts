/** Caching of Membership's responses, and behaviour while it does not answer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { localCaller } from '../../src/access/caller.ts';
import type { Failure } from '../../src/kernel/failure/failure.ts';
import { hashed, internalKey, openCircuit, withMembership } from '../support/access-fixture.ts';
import { assertNoCanary, makeCanaries, type Output } from '../support/canary.ts';
import type { Reply } from '../support/membership.ts';
import { makeLatch } from '../support/test-world.ts';

describe('responses are cached', () => {
  test('for 60 seconds per key, and a revoked key is refused after that', async (t) => {
    const { world, codeOf, membership, answer } = await withMembership(t);
    await codeOf('some-key');
    answer({ status: 401 });
    await world.advance(59_999);
    assert.equal(await codeOf('some-key'), 'valid');
    assert.equal(membership.requests.length, 1);
    await world.advance(1);
    assert.equal(await codeOf('some-key'), 'unauthorized');
    assert.equal(membership.requests.length, 2);
  });

  test('for 5 seconds if the key was refused, so that a new key soon works', async (t) => {
    const { world, codeOf, membership, answer } = await withMembership(t);
    answer({ status: 409 });
    await codeOf('some-key');
    answer({ status: 200 });
    assert.equal(await codeOf('some-key'), 'unauthorized');
    assert.equal(membership.requests.length, 1);
    await world.advance(5_000);
    assert.equal(await codeOf('some-key'), 'valid');
  });

  test('but a failure is not: the next request asks again', async (t) => {
    const { codeOf, answer } = await withMembership(t);
    answer({ status: 500 });
    assert.equal(await codeOf('some-key'), 'membership_unavailable');
    answer({ status: 200 });
    assert.equal(await codeOf('some-key'), 'valid');
  });

  test('and concurrent requests with the same key are one request', async (t) => {
    const { access, membership } = await withMembership(t);
    const latch = makeLatch();
    membership.reply = async () => {
      await latch.opened;
      return { status: 200 };
    };
    const asking = Array.from({ length: 50 }, () => access.authenticate('some-key'));
    await membership.asked(1);
    latch.open();
    assert.equal(new Set((await Promise.all(asking)).map(({ callerId }) => callerId)).size, 1);
    assert.equal(membership.requests.length, 1);
  });
});

describe('when Membership is away', () => {
  test('no response within 2 seconds is a failure: 503, never 401', async (t) => {
    const { world, access, membership } = await withMembership(t);
    membership.reply = () => new Promise(() => undefined);
    const asking = access.authenticate('some-key').catch((error: Failure) => error.code);
    await membership.asked(1);
    await world.advance(1_999);
    assert.equal(world.pendingTimers, 1);
    await world.advance(1);
    assert.equal(await asking, 'membership_unavailable');
  });

  test('a body that does not end is a failure too', async (t) => {
    const { world, access, membership } = await withMembership(t);
    membership.reply = () => ({ status: 200, body: '{', headers: { 'content-length': '100' } });
    const asking = access.authenticate('some-key').catch((error: Failure) => error.code);
    await membership.asked(1);
    await world.advance(2_000);
    assert.equal(await asking, 'membership_unavailable');
  });

  test('three consecutive failures open the circuit for 30 seconds', async (t) => {
    const bundle = await withMembership(t);
    const { world, failureOf, membership } = bundle;
    await openCircuit(bundle);
    await world.advance(10_000);
    const failure = await failureOf('some-key');
    assert.equal(failure.code, 'membership_unavailable');
    assert.equal(failure.retryAfterMs, 20_000);
    assert.equal(membership.requests.length, 3);
  });

  test('a response resets the count of failures, even if it refuses a key', async (t) => {
    const { codeOf, answer, access } = await withMembership(t);
    for (const [index, status] of [500, 500, 401, 500, 500].entries()) {
      answer({ status });
      await codeOf(`key-${index}`);
    }
    assert.equal(access.status.membership?.circuit, 'closed');
  });

  test('after 30 seconds one request is let through, and its success closes it', async (t) => {
    const bundle = await withMembership(t);
    const { world, access, codeOf, membership } = bundle;
    await openCircuit(bundle);
    await world.advance(30_000);
    assert.equal(access.status.membership?.circuit, 'half_open');
    const latch = makeLatch();
    membership.reply = async () => {
      await latch.opened;
      return { status: 200 };
    };
    const probe = codeOf('probe');
    await membership.asked(4);
    assert.equal(await codeOf('other-key'), 'membership_unavailable');
    assert.equal(membership.requests.length, 4);
    latch.open();
    assert.equal(await probe, 'valid');
    assert.equal(access.status.membership?.circuit, 'closed');
    assert.equal(await codeOf('other-key'), 'valid');
  });

  test('a request that fails then keeps the circuit open for another 30 seconds', async (t) => {
    const bundle = await withMembership(t);
    const { world, codeOf, failureOf, membership } = bundle;
    await openCircuit(bundle);
    await world.advance(30_000);
    await codeOf('probe');
    const { retryAfterMs } = await failureOf('other-key');
    assert.deepEqual([retryAfterMs, membership.requests.length], [30_000, 4]);
  });

  test('cached keys work until their 60 seconds end, others get 503', async (t) => {
    const bundle = await withMembership(t);
    const { world, codeOf, membership } = bundle;
    await codeOf('known-key');
    await membership.stop();
    for (const key of ['key-1', 'key-2', 'key-3']) {
      assert.equal(await codeOf(key), 'membership_unavailable');
    }
    await world.advance(59_000);
    assert.equal(await codeOf('known-key'), 'valid');
    await world.advance(1_000);
    assert.equal(await codeOf('known-key'), 'membership_unavailable');
  });

  test('static keys and the internal key do not need it', async (t) => {
    const options = { apiKeys: [hashed('static-key')], internalKey };
    const { codeOf, membership } = await withMembership(t, options);
    await membership.stop();
    assert.equal(await codeOf('static-key'), 'valid');
    assert.equal(await codeOf(internalKey), 'valid');
  });

  test('every refusal says when to come back', async (t) => {
    const { failureOf, answer } = await withMembership(t);
    answer({ status: 500 });
    for (const key of ['key-1', 'key-2', 'key-3', 'key-4']) {
      assert.ok(((await failureOf(key)).retryAfterMs ?? 0) >= 1_000);
    }
  });
});

describe('wrong keys', () => {
  test('too many from one address are not checked, and the response has the wait', async (t) => {
    const { world, access, membership } = await withMembership(t);
    membership.reply = (key) => ({ status: key.startsWith('good') ? 200 : 401 });
    const failureOf = (key: string, source: string) =>
      access.authenticate(key, source).then(
        () => undefined,
        (error: Failure) => error,
      );
    assert.equal(await failureOf('good-known', 'there'), undefined);
    const codes: (string | undefined)[] = [];
    for (let guess = 0; guess < 300; guess += 1) {
      codes.push((await failureOf(`guess-${guess}`, 'there'))?.code);
    }
    assert.deepEqual(new Set(codes.slice(0, 100)), new Set(['unauthorized']));
    assert.deepEqual(new Set(codes.slice(100)), new Set(['rate_limit_hit']));
    assert.equal(membership.requests.length, 101);
    assert.equal((await failureOf('guess', 'there'))?.retryAfterMs, 60_000);
    assert.equal(await failureOf('good-known', 'there'), undefined, 'a known key still works');
    assert.equal(await failureOf('good-new', 'elsewhere'), undefined, 'so does another source');
    await world.advance(60_000);
    assert.equal(await failureOf('good-new-too', 'there'), undefined);
  });

  test('the same key is not checked again, and counts once', async (t) => {
    const { access, membership, answer } = await withMembership(t);
    answer({ status: 401 });
    for (let time = 0; time < 300; time += 1) {
      await assert.rejects(access.authenticate('wrong', 'there'), { code: 'unauthorized' });
    }
    assert.equal(membership.requests.length, 1);
    await assert.rejects(access.authenticate('other', 'there'), { code: 'unauthorized' });
  });

  test('an outage does not count as a wrong key', async (t) => {
    const { access, answer } = await withMembership(t);
    answer({ status: 500 });
    for (let time = 0; time < 300; time += 1) {
      const expected = { code: 'membership_unavailable' };
      await assert.rejects(access.authenticate(`key-${time}`, 'there'), expected);
    }
  });
});

test('no secret is in a failure, an audit record, a caller or the status', async (t) => {
  const canaries = makeCanaries('access');
  const told: Output[] = [];
  const look = async (where: string, reply: Reply | undefined, key = canaries.api_key) => {
    const options = { internalKey: canaries.environment };
    const { access, records, answer, membership } = await withMembership(t, options);
    if (reply) answer(reply);
    else await membership.stop();
    const outcome = await access.authenticate(key).catch((error: unknown) => error);
    const decision = await access.admit(localCaller, '/jobs');
    told.push({ where, content: { outcome, decision, records, status: access.status } });
  };
  const body = `{"echo": ${canaries.membership_reply}, ${canaries.api_key}`;
  for (const status of [200, 201, 302, 401, 409, 500]) {
    await look(`${status}`, { status, body: status > 201 ? body : '' });
  }
  await look('a broken reply', { status: 200, body });
  await look('a claim of the wrong shape', {
    status: 200,
    body: JSON.stringify({ tier: [canaries.membership_reply] }),
  });
  await look('a malformed key', { status: 401 }, `${canaries.api_key}\n`);
  await look('no Membership', undefined);
  await look('the internal key', undefined, canaries.environment);
  const text = inspect(told, { depth: 10 });
  for (const expected of [/auth_rejected/, /membership_unavailable/, /service/]) {
    assert.match(text, expected);
  }
  assertNoCanary(canaries, told);
});
