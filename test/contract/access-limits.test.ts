/** How many requests a caller may send: every sentence of the contract on rate limits. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Access } from '../../src/access/access.ts';
import { type CallerContext, localCaller } from '../../src/access/caller.ts';
import { hashed, internalKey, openFixture, sha256 } from '../support/access-fixture.ts';

const hour = 3_600_000;

function setup() {
  const keys = ['key-a', 'key-b', 'key-c'];
  const apiKeys = keys.map(hashed);
  const bundle = openFixture({ apiKeys, internalKey, rateCapacity: 12, rateFloor: 3 });
  const { access } = bundle;
  const callers = () => Promise.all(keys.map((key) => access.authenticate(key)));
  return { ...bundle, callers };
}

async function allowedOf(access: Access, caller: CallerContext, count: number, route = '/jobs') {
  let allowed = 0;
  for (let time = 0; time < count; time += 1) {
    if ((await access.admit(caller, route)).allowed) allowed += 1;
  }
  return allowed;
}

const claimed = (claims: Partial<CallerContext>): CallerContext => ({ ...localCaller, ...claims });

describe('limits', () => {
  test('the key hash is the bucket: one caller has the whole capacity and burst', async () => {
    const { access, callers } = setup();
    const [caller = localCaller] = await callers();
    assert.equal(caller.callerId, sha256('key-a').slice(0, 16));
    assert.equal(await allowedOf(access, caller, 30), 18);
  });

  test('queued requests are counted with the pages, not with the jobs', async () => {
    const { access, callers } = setup();
    const [caller = localCaller] = await callers();
    assert.equal(await allowedOf(access, caller, 30, 'POST /scrape'), 18);
    assert.equal(await allowedOf(access, caller, 30, 'POST /enqueue'), 0);
    assert.equal(await allowedOf(access, caller, 30, 'POST /jobs'), 18);
  });

  test('callers share the capacity, and each has at least the floor', async () => {
    const { access, callers } = setup();
    const [first = localCaller, second = localCaller, third = localCaller] = await callers();
    assert.equal((await access.admit(first, '/jobs')).limit, 18);
    assert.equal((await access.admit(second, '/jobs')).limit, 9);
    assert.equal((await access.admit(third, '/jobs')).limit, 6);
    assert.equal((await access.admit(first, '/jobs')).limit, 6);
    for (let other = 0; other < 50; other += 1) {
      await access.admit(claimed({ shownId: `other-${other}` }), '/jobs');
    }
    assert.equal((await access.admit(second, '/jobs')).limit, 4);
  });

  test('an hour later the others no longer count', async () => {
    const { world, access, callers } = setup();
    const [first = localCaller, second = localCaller] = await callers();
    await access.admit(second, '/jobs');
    assert.equal((await access.admit(first, '/jobs')).limit, 9);
    world.skip(hour);
    assert.equal((await access.admit(first, '/jobs')).limit, 18);
  });

  test('services have 20 times the floor, no burst, and take no share from others', async () => {
    const { access, callers } = setup();
    const service = await access.authenticate(internalKey);
    assert.equal(await allowedOf(access, service, 70), 60);
    const [caller = localCaller] = await callers();
    assert.equal((await access.admit(caller, '/jobs')).limit, 18);
  });

  test('a tier replaces the share, and claimed limits replace the tier', async () => {
    const { access } = setup();
    const pro = claimed({ shownId: 'p', tier: 'pro' });
    assert.equal((await access.admit(pro, '/jobs')).limit, 6000);
    const rawClaims = { rate_limits: { requests: 5, window_seconds: 60, burst: 2 } };
    const own = claimed({ shownId: 'o', tier: 'pro', rawClaims });
    assert.equal(await allowedOf(access, own, 20), 7);
  });

  test('tiers come from the setting, if it is set', async () => {
    const { access } = openFixture({ rateTiers: { gold: 9 }, rateFloor: 3 });
    assert.equal((await access.admit(claimed({ shownId: 'g', tier: 'gold' }), '/jobs')).limit, 9);
    assert.equal((await access.admit(claimed({ shownId: 'p', tier: 'pro' }), '/jobs')).limit, 3);
  });

  test('each service counts separately', async () => {
    const { access, callers } = setup();
    const [caller = localCaller] = await callers();
    assert.equal(await allowedOf(access, caller, 30, 'POST /search'), 18);
    assert.equal(await allowedOf(access, caller, 30, '/embed'), 0);
    for (const route of ['GET /jobs/:id', '/scrape', 'POST /chunk']) {
      assert.equal(await allowedOf(access, caller, 30, route), 18, route);
    }
    assert.equal(await allowedOf(access, caller, 30, 'GET /corpora'), 0);
  });

  test('a decision has the limit, the remainder, the reset time and the wait', async () => {
    const { world, access, callers } = setup();
    const [caller = localCaller] = await callers();
    const resetAtMs = world.now() + hour;
    const first = await access.admit(caller, '/jobs');
    const whole = { limit: 18, windowSeconds: 3600, resetAtMs, retryAfterSeconds: 0 };
    assert.deepEqual(first, { ...whole, allowed: true, remaining: 17 });
    await allowedOf(access, caller, 17);
    world.skip(500);
    const refused = await access.admit(caller, '/jobs');
    assert.deepEqual(refused, { ...whole, allowed: false, remaining: 0, retryAfterSeconds: 3600 });
    world.skip(hour - 501);
    const { retryAfterSeconds } = await access.admit(caller, '/jobs');
    assert.equal(retryAfterSeconds, 1);
    world.skip(1);
    assert.equal((await access.admit(caller, '/jobs')).allowed, true);
  });

  test('a refusal is in the audit, with the route and without the key', async () => {
    const { access, callers, records } = setup();
    const [caller = localCaller] = await callers();
    await allowedOf(access, caller, 19);
    assert.deepEqual(
      records.map(({ at, ...record }) => record),
      [
        {
          event: 'rate_limit_hit',
          caller_id: caller.callerId,
          caller_type: 'unknown',
          tier: null,
          route: '/jobs',
          limit: 18,
          retry_after_seconds: 3600,
        },
      ],
    );
  });

  test('the owner of the machine is not limited if no keys are set', async () => {
    const { access } = openFixture({ rateCapacity: 12, rateFloor: 3 });
    const local = await access.authenticate(undefined);
    assert.equal(await allowedOf(access, local, 100), 100);
  });
});
