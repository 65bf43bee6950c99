import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openBench } from './api-client.ts';

test('a request beyond a claimed limit gets the limit, its window and the wait', async (t) => {
  const claims = { rate_limits: { requests: 1, window_seconds: 40_000 } };
  const membership = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(claims));
  });
  await new Promise<void>((resolve) => membership.listen(0, '127.0.0.1', resolve));
  t.after(() => membership.close());
  const membershipUrl = `http://127.0.0.1:${(membership.address() as AddressInfo).port}`;
  const { ask } = await openBench(t, { keys: { membershipUrl }, work: false });
  const headers = { 'x-api-key': 'a-key-of-somebody' };
  assert.equal((await ask('GET /jobs', { headers })).status, 200);
  const refused = await ask('GET /jobs', { headers });
  assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limit_hit']);
  assert.match(String(refused.body.detail), /more than 1 requests within 40000 seconds/);
  assert.equal(refused.headers.get('x-ratelimit-limit'), '1');
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '0');
  assert.ok(Number(refused.headers.get('retry-after')) > 3600);
});
