/** Authentication: every sentence of the contract, against a real Membership server. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AccessOptions } from '../../src/access/access.ts';
import { localCaller } from '../../src/access/caller.ts';
import type { Failure } from '../../src/kernel/failure/failure.ts';
import {
  hashed,
  internalKey,
  openFixture,
  sha256,
  withMembership,
} from '../support/access-fixture.ts';
import { startMembership } from '../support/membership.ts';

describe('without keys and without Membership', () => {
  test('every caller is the local caller, with a key or without', async () => {
    const { access } = openFixture();
    assert.equal(access.isGuarded, false);
    assert.equal(await access.authenticate(undefined), localCaller);
    assert.equal(await access.authenticate('any-key'), localCaller);
  });

  test('an internal key alone still keeps other keys out', async () => {
    const { access, codeOf } = openFixture({ internalKey });
    assert.equal(await access.authenticate(undefined), localCaller);
    assert.equal((await access.authenticate(internalKey)).internal, true);
    assert.equal(await codeOf('another-key'), 'unauthorized');
  });
});

describe('static keys', () => {
  test('a key is valid if its hash is on the list, at any position', async () => {
    const keys = ['first-key', 'second-key', 'third-key'];
    const { access, codeOf } = openFixture({ apiKeys: keys.map(hashed) });
    assert.equal(access.isGuarded, true);
    for (const key of keys) {
      const { callerId, callerType, internal } = await access.authenticate(key);
      assert.equal(callerId, sha256(key).slice(0, 16));
      assert.deepEqual([callerType, internal], ['unknown', false]);
    }
    assert.equal(await codeOf('fourth-key'), 'unauthorized');
    assert.equal(await codeOf(hashed('first-key')), 'unauthorized');
  });

  test('keys with one name are one caller', async () => {
    const apiKeys = [`ops=${hashed('old-key')}`, `ops=${hashed('new-key')}`, hashed('other-key')];
    const { access } = openFixture({ apiKeys });
    for (const key of ['old-key', 'new-key']) {
      const { shownId, sight } = await access.authenticate(key);
      const named = { kind: 'name', subject: 'ops' };
      assert.deepEqual([shownId, sight], ['ops', { key: sha256(key).slice(0, 16), named }]);
    }
    assert.equal(
      (await access.authenticate('other-key')).shownId,
      sha256('other-key').slice(0, 16),
    );
  });

  test('a hash may be in upper case', async () => {
    const { codeOf } = openFixture({ apiKeys: [`sha256:${sha256('first-key').toUpperCase()}`] });
    assert.equal(await codeOf('first-key'), 'valid');
  });

  test('the internal key makes a service, and so does a listed caller id', async () => {
    const apiKeys = [hashed('own-service'), hashed('stranger')];
    const internalCallerIds = [sha256('own-service').slice(0, 16)];
    const { access } = openFixture({ apiKeys, internalKey, internalCallerIds });
    const service = await access.authenticate(internalKey);
    assert.deepEqual([service.internal, service.callerType], [true, 'service']);
    assert.equal((await access.authenticate('own-service')).internal, true);
    assert.equal((await access.authenticate('stranger')).internal, false);
  });

  const unusable: readonly [string, string | undefined, string][] = [
    ['no key', undefined, 'missing'],
    ['an empty key', '', 'missing'],
    ['a key of 10 KB', 'k'.repeat(10_240), 'malformed'],
    ['a key that is not ASCII', 'schlüssel', 'malformed'],
    ['a key with a NUL', 'a\0b', 'malformed'],
    ['a key with a line break', 'a\nb', 'malformed'],
    ['a wrong key', 'wrong', 'invalid'],
  ];
  for (const [what, key, reason] of unusable) {
    test(`${what} is unauthorized; Membership is asked only about a well-formed one`, async (t) => {
      const { codeOf, membership, records, answer } = await withMembership(t);
      answer({ status: 401 });
      assert.equal(await codeOf(key), 'unauthorized');
      assert.equal(membership.requests.length, reason === 'invalid' ? 1 : 0);
      const rejected = records.map(({ event, reason: why }) => [event, why]);
      assert.deepEqual(rejected, [['auth_rejected', reason]]);
    });
  }

  const refused: readonly [string, Partial<AccessOptions>, RegExp][] = [
    ['a key instead of its hash', { apiKeys: ['plain-secret'] }, /64 hexadecimal digits/],
    ['a hash that is cut short', { apiKeys: ['sha256:abcdef'] }, /64 hexadecimal digits/],
    ['a short internal key', { internalKey: 'short-secret' }, /24 to 512 printable characters/],
    ['a caller id with a space', { internalCallerIds: ['a b'] }, /"a b" is not a caller id/],
    ['an address with a password', { membershipUrl: 'http://u:secret@h' }, /without a user/],
    ['an address of another kind', { membershipUrl: 'ftp://host' }, /must be an http or https/],
  ];
  for (const [what, options, message] of refused) {
    test(`${what} is refused at start, in a sentence without secrets`, () => {
      assert.throws(
        () => openFixture(options),
        (error: Failure) =>
          error.code === 'usage_error' && message.test(error.message) && !/secret/.test(`${error}`),
      );
    });
  }
});

describe('Membership', () => {
  test('is asked by POST /auth with the key as api_key', async (t) => {
    const { access, membership } = await withMembership(t);
    await access.authenticate('some-key');
    assert.deepEqual(membership.requests, [
      {
        method: 'POST',
        path: '/auth',
        contentType: 'application/json',
        body: { api_key: 'some-key' },
      },
    ]);
  });

  const statuses: readonly [status: number, code: string][] = [
    [200, 'valid'],
    [201, 'valid'],
    [401, 'unauthorized'],
    [409, 'unauthorized'],
    ...[202, 204, 302, 400, 403, 404, 429, 500, 502, 503].map((status): [number, string] => [
      status,
      'membership_unavailable',
    ]),
  ];
  for (const [status, code] of statuses) {
    test(`${status} means ${code}`, async (t) => {
      const { codeOf, answer } = await withMembership(t);
      answer({ status, headers: { location: '/elsewhere' } });
      assert.equal(await codeOf('some-key'), code);
    });
  }

  test('an invalid key is invalid regardless of the body of the refusal', async (t) => {
    const { codeOf, answer } = await withMembership(t);
    answer({ status: 401, body: '<html>'.repeat(100_000) });
    assert.equal(await codeOf('some-key'), 'unauthorized');
  });

  test('a key is sent to the configured address only: no redirect is followed', async (t) => {
    const other = await startMembership(t);
    const { codeOf, answer } = await withMembership(t);
    answer({ status: 307, headers: { location: `${other.url}/auth` } });
    assert.equal(await codeOf('some-key'), 'membership_unavailable');
    assert.equal(other.requests.length, 0);
  });

  test('a static key needs no request; other keys are checked', async (t) => {
    const { codeOf, membership } = await withMembership(t, { apiKeys: [hashed('static-key')] });
    assert.equal(await codeOf('static-key'), 'valid');
    assert.equal(membership.requests.length, 0);
    assert.equal(await codeOf('other-key'), 'valid');
    assert.equal(membership.requests.length, 1);
  });
});

describe('the caller', () => {
  test('an empty reply gives the hash of the key and nothing else', async (t) => {
    const { access } = await withMembership(t);
    assert.deepEqual(await access.authenticate('some-key'), {
      callerId: sha256('some-key').slice(0, 16),
      shownId: sha256('some-key').slice(0, 16),
      sight: { key: sha256('some-key').slice(0, 16), named: undefined },
      callerType: 'unknown',
      tier: null,
      scopes: [],
      rawClaims: {},
      internal: false,
    });
  });

  test('claims of Membership take effect without other changes', async (t) => {
    const { access, claim } = await withMembership(t);
    const claims = {
      caller_id: 'user_abc',
      caller_type: 'user',
      tier: 'pro',
      scopes: ['read', 'write'],
      since: 2031,
    };
    claim(claims);
    assert.deepEqual(await access.authenticate('some-key'), {
      callerId: 'user_abc',
      shownId: 'user_abc',
      sight: {
        key: sha256('some-key').slice(0, 16),
        named: { kind: 'membership', subject: 'user_abc' },
      },
      callerType: 'user',
      tier: 'pro',
      scopes: ['read', 'write'],
      rawClaims: claims,
      internal: false,
    });
  });

  test('a claimed caller id outlives the key: the audit continues over a rotation', async (t) => {
    const { access, claim } = await withMembership(t);
    claim({ caller_id: 'user_abc' });
    const callers = await Promise.all(
      ['old-key', 'new-key'].map((key) => access.authenticate(key)),
    );
    assert.deepEqual(
      callers.map(({ callerId }) => callerId),
      ['user_abc', 'user_abc'],
    );
  });

  test('is internal if it is a service, or if its id is listed', async (t) => {
    const { access, claim } = await withMembership(t, { internalCallerIds: ['orchestrator'] });
    const internalWith = async (key: string, claims: object) => {
      claim(claims);
      return (await access.authenticate(key)).internal;
    };
    assert.equal(await internalWith('key-1', { caller_type: 'service' }), true);
    assert.equal(await internalWith('key-2', { caller_id: 'orchestrator' }), true);
    assert.equal(await internalWith('key-3', { caller_type: 'user' }), false);
    assert.equal(await internalWith('key-4', { caller_type: 'administrator' }), false);
    assert.equal(await internalWith('key-5', { internal: true }), false);
  });

  const wrong: readonly [string, string][] = [
    ['no JSON', '<html>200 OK</html>'],
    ['half of a JSON', '{"tier": "pr'],
    ['a list', '[]'],
    ['a text', '"valid"'],
    ['more than its bytes', JSON.stringify({ note: 'x'.repeat(17_000) })],
    ['a caller id that is a number', '{"caller_id": 7}'],
    ['an empty caller id', '{"caller_id": ""}'],
    ['a caller id with a line break', '{"caller_id": "a\\nb"}'],
    ['a tier that is an object', '{"tier": {}}'],
    ['scopes that are a text', '{"scopes": "all"}'],
    ['101 scopes', JSON.stringify({ scopes: Array(101).fill('s') })],
    ['limits below 1', '{"rate_limits": {"requests": 0}}'],
    ['limits without a number', '{"rate_limits": {"requests": "many"}}'],
  ];
  for (const [what, body] of wrong) {
    test(`a reply with ${what} is invalid: the key is neither valid nor invalid`, async (t) => {
      const { codeOf, answer } = await withMembership(t);
      answer({ status: 200, body });
      assert.equal(await codeOf('some-key'), 'membership_unavailable');
    });
  }

  test('an account with invalid claims does not lock out the others', async (t) => {
    const { codeOf, membership } = await withMembership(t);
    membership.reply = (key) => ({ status: 200, body: key === 'odd' ? '{"tier": 1}' : '' });
    for (let time = 0; time < 5; time += 1)
      assert.equal(await codeOf('odd'), 'membership_unavailable');
    assert.equal(await codeOf('plain'), 'valid');
  });
});
