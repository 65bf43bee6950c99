/** `pawl doctor` and the metrics of the service, with real Redis. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openQueues } from '../../src/app/adapter/queues.ts';
import { startService } from '../../src/app/role/service.ts';
import { realWorld } from '../../src/app/world.ts';
import { makeLog } from '../../src/observe/log.ts';
import { startRedis } from '../support/redis.ts';
import { lastingPort } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { openRunner } from './pawl-process.ts';

describe('pawl doctor', () => {
  test('checks each Redis, gives advice, and prints no password', async (t) => {
    const sound = await startRedis();
    t.after(() => sound.stop());
    const evicting = await startRedis({ settings: { 'maxmemory-policy': 'allkeys-lru' } });
    t.after(() => evicting.stop());
    const place = openRunner(t);
    const environment = {
      PAWL_REDIS_URL: sound.url,
      PAWL_REDIS_SCRAPE_URL: evicting.url.replace('127', 'default:very-secret@127'),
      PAWL_REDIS_EMBED_URL: `redis://:very-secret@127.0.0.1:${await lastingPort()}`,
    };
    const { code, stdout, stderr } = await place.run(['doctor', '--json'], { environment });
    assert.equal(code, 1);
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>)
      .filter(({ check }) => check?.startsWith('Redis'));
    assert.deepEqual(
      findings.map(({ check, verdict }) => [check, verdict]),
      [
        ['Redis orch', 'ok'],
        ['Redis scrape', 'fail'],
        ['Redis embed', 'fail'],
      ],
    );
    const [orch, scrape, embed] = findings;
    assert.match(
      orch?.found ?? '',
      /^redis:\/\/127\.0\.0\.1:\d+, \d+\.\d+.*, noeviction, .* used$/,
    );
    const cure = `redis-cli -u ${evicting.url} CONFIG SET maxmemory-policy noeviction`;
    assert.ok(scrape?.advice?.includes(cure), scrape?.advice);
    assert.match(embed?.found ?? '', /cannot be used \(.*ECONNREFUSED/);
    assert.doesNotMatch(stdout + stderr, /very-secret/);
  });

  test('has one line for a shared Redis', async (t) => {
    const redis = await startRedis();
    t.after(() => redis.stop());
    const environment = { PAWL_REDIS_URL: redis.url };
    const { code, stdout } = await openRunner(t).run(['doctor'], { environment });
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^ok +Redis +redis:.*noeviction/m);
  });
});

test('the metrics have the depth of each queue, except while its Redis is down', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const { url } = redis;
  const world = realWorld();
  const log = makeLog('silent', () => undefined);
  const addresses = { orch: url, scrape: url, embed: undefined };
  const opened = await openQueues({ addresses, world, log });
  t.after(() => opened.close());
  const service = await startService({
    ...{ data: temporaryDirectory(t), host: '127.0.0.1', port: 0, work: false },
    services: { queues: opened.queues, chunker: (here) => here },
    log: { level: 'silent', write: () => undefined },
  });
  t.after(() => service.close());
  const read = async (): Promise<string[]> => {
    const text = await (await fetch(`${service.address}/metrics`)).text();
    return text.split('\n').filter((line) => /^queue_depth\{queue="\w+_jobs"/.test(line));
  };
  await opened.queues.scrape_jobs.add([
    { id: 'a', kind: 'scrape' },
    { id: 'b', kind: 'scrape' },
  ]);
  assert.deepEqual(await read(), [
    'queue_depth{queue="scrape_jobs"} 2',
    'queue_depth{queue="embed_jobs"} 0',
  ]);
  await redis.stop();
  assert.deepEqual(await read(), ['queue_depth{queue="embed_jobs"} 0']);
});
