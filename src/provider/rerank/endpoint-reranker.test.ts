import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRerankServer } from '../../../test/support/rerank-server.ts';
import { realWorld } from '../../app/world.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { endpointReranker } from './endpoint-reranker.ts';

const never = new AbortController().signal;

test('an endpoint that is down is not asked again for a while', async (t) => {
  const server = await startRerankServer(t);
  let now = 1_000_000;
  const world = { ...realWorld(), now: () => now };
  const url = `${server.origin}/jina/v1`;
  const reranker = endpointReranker({ vendor: 'jina', model: 'm', url, isNamed: true, world });
  const rank = () => reranker.rank('tides', ['the tides'], never);
  server.script = (_, response) => {
    response.writeHead(503).end('{}');
    return true;
  };
  await assert.rejects(rank(), { code: 'provider_unavailable' });
  await assert.rejects(rank(), { code: 'rate_limited' });
  assert.equal(server.calls.length, 1);
  now += limits.rerank.pauseMs;
  server.script = () => undefined;
  assert.deepEqual((await rank()).relevances, [1]);
});

test('a search that is given up does not wait for the endpoint', async (t) => {
  const server = await startRerankServer(t);
  const leaving = new AbortController();
  server.script = () => {
    leaving.abort();
    return true;
  };
  const at = { url: `${server.origin}/tei`, isNamed: true, world: realWorld() };
  const reranker = endpointReranker({ vendor: 'tei', model: 'm', ...at });
  await assert.rejects(reranker.rank('tides', ['the tides'], leaving.signal), {
    name: 'AbortError',
  });
});

test('more passages than a server takes at once are several requests', async (t) => {
  const server = await startRerankServer(t);
  const at = { url: `${server.origin}/tei`, isNamed: true, world: realWorld() };
  const reranker = endpointReranker({ vendor: 'tei', model: 'm', ...at });
  const texts = Array.from({ length: 50 }, (_, at) => (at === 40 ? 'the tides' : `passage ${at}`));
  const { relevances } = await reranker.rank('tides', texts, never);
  assert.deepEqual([relevances.length, relevances.indexOf(1)], [50, 40]);
  assert.deepEqual([server.wrongs, server.calls.length], [[], 2]);
});
