import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ConfigInput, loadConfig } from './config.ts';

describe('the configuration', () => {
  test('takes the flag, then the variable, then the file, then the default', () => {
    const file = '{ "data": "from-file" }';
    const environment = { PAWL_DATA: 'from-environment' };
    const dataOf = (input: Partial<ConfigInput>) =>
      loadConfig({ environment: {}, ...input }).config.data;
    assert.equal(dataOf({ file, environment, flags: { data: 'from-flag' } }), 'from-flag');
    assert.equal(dataOf({ file, environment }), 'from-environment');
    assert.equal(dataOf({ file }), 'from-file');
    assert.equal(dataOf({}), '.pawl');
  });

  test('treats an empty variable as not set', () => {
    assert.equal(loadConfig({ environment: { PAWL_PORT: '' } }).config.port, 7300);
  });

  test('distinguishes a given number of workers from the default', () => {
    const workersOf = (text: string) =>
      loadConfig({ environment: { PAWL_WORKERS: text } }).config.workers;
    assert.deepEqual(['', '64', '3', '0'].map(workersOf), [undefined, 64, 3, 0]);
  });

  test('reads the queue limit and the requests of each tier', () => {
    const { config } = loadConfig({
      environment: { PAWL_QUEUE_DEPTH_MAX: '20', PAWL_RATE_TIERS: 'free=10, gold plus=7000' },
    });
    assert.deepEqual(
      [config.queueDepthMax, config.rateTiers],
      [20, { free: 10, 'gold plus': 7000 }],
    );
    const { config: standard } = loadConfig({ environment: {} });
    assert.deepEqual([standard.queueDepthMax, standard.rateTiers], [1_000_000, undefined]);
  });

  test('reads exceptions from a list in the file, or separated by commas', () => {
    const hosts = ['127.0.0.1:4010', '[::1]:80'];
    const environment = { PAWL_ALLOW_HOSTS: hosts.join(', ') };
    assert.deepEqual(loadConfig({ environment }).config.allowHosts, hosts);
    const file = JSON.stringify({ allowHosts: hosts });
    assert.deepEqual(loadConfig({ environment: {}, file }).config.allowHosts, hosts);
  });

  test('accepts one or several chunking services', () => {
    const urls = ['http://a:7311', 'https://b/chunking'];
    const urlOf = (text: string) =>
      loadConfig({ environment: { PAWL_CHUNKING_URL: text } }).config.chunkingUrl;
    assert.deepEqual(
      [urls.slice(0, 1), urls].map((some) => urlOf(some.join(', '))),
      ['http://a:7311', 'http://a:7311,https://b/chunking'],
    );
    assert.throws(() => urlOf('http://a:7311,'), {
      message: /^PAWL_CHUNKING_URL must be one or several/,
    });
  });

  test('reads the crawl limits of domains', () => {
    const environment = { PAWL_PACE: 'Docs.corp=8/100, 127.0.0.1=64/0' };
    assert.deepEqual(loadConfig({ environment }).config.pace, {
      'docs.corp': { concurrency: 8, intervalMs: 100 },
      '127.0.0.1': { concurrency: 64, intervalMs: 0 },
    });
  });

  test('accepts a browser that is off, found automatically or named', () => {
    const browserOf = (text: string) =>
      loadConfig({ environment: { PAWL_BROWSER: text } }).config.browser;
    assert.deepEqual(['', 'auto', '/usr/bin/chromium'].map(browserOf), [
      'off',
      'auto',
      '/usr/bin/chromium',
    ]);
  });

  const refused: readonly [Partial<ConfigInput>, RegExp][] = [
    [{ environment: { PAWL_WORKERS: '-1' } }, /^PAWL_WORKERS must be a whole number from 0 to 512/],
    [{ environment: { PAWL_QUEUE_DEPTH_MAX: '0' } }, /must be a whole number from 1 to/],
    [
      { environment: { PAWL_RATE_TIERS: 'free' } },
      /^PAWL_RATE_TIERS must be entries such as free=/,
    ],
    [{ environment: { PAWL_LOG: 'loud' } }, /^PAWL_LOG must be one of silent, .*, not "loud"$/],
    [{ file: '{ "workers": 1.5 }' }, /^workers in pawl\.config\.json must be a whole number/],
    [{ environment: { PAWL_ALLOW_HOSTS: 'wiki' } }, /^PAWL_ALLOW_HOSTS must be host:port pairs/],
    [{ environment: { PAWL_ALLOW_HOSTS: 'a:80,http://b:80' } }, /must be host:port pairs/],
    [{ environment: { PAWL_RATE_FLOOR: '0' } }, /^PAWL_RATE_FLOOR must be a whole number/],
    [
      { environment: { PAWL_INTERNAL_CALLER_IDS: 'a,,b' } },
      /must be caller ids separated by commas/,
    ],
    [{ environment: { PAWL_BROWSER: 'on' } }, /^PAWL_BROWSER must be `off`, `auto`, or the path/],
    [{ environment: { PAWL_RENDER: 'often' } }, /^PAWL_RENDER must be `needed` or `always`/],
    [{ environment: { PAWL_PACE: 'docs.corp' } }, /^PAWL_PACE must be entries such as/],
    [{ environment: { PAWL_PACE: 'docs.corp=0/100' } }, /^PAWL_PACE must be/],
    [{ environment: { PAWL_PACE: 'docs.corp=1/9999999' } }, /^PAWL_PACE must be/],
    [{ environment: { PAWL_PACE: 'docs.corp=999/1' } }, /^PAWL_PACE must be/],
    [
      { environment: { PAWL_EMBEDDER: 'cohere' } },
      /^PAWL_EMBEDDER must be local, minilm, openai:MODEL/,
    ],
    [{ environment: { PAWL_EMBEDDER_PRICE: '-1' } }, /must be cents per million/],
    [{ environment: { PAWL_EMBEDDER_KEY: 'my secret' } }, /must be one word, not what was given$/],
    [{ file: '[]' }, /must contain one JSON object$/],
    [{ file: '{' }, /is not JSON/],
    [{ flags: { data: '' } }, /^--data must be a folder/],
  ];
  for (const [input, message] of refused) {
    test(`refuses ${JSON.stringify(input)}`, () => {
      const expected = { code: 'usage_error', message };
      assert.throws(() => loadConfig({ environment: {}, ...input }), expected);
    });
  }

  const secret: readonly [variable: string, text: string][] = [
    ['PAWL_DATABASE_URL', 'mysql://user:secret@host/name'],
    ['PAWL_API_KEYS', 'the-secret-key'],
    ['PAWL_API_KEYS', `sha256:${'a'.repeat(64)},secret`],
    ['PAWL_INTERNAL_KEY', 'short-secret'],
    ['PAWL_INTERNAL_KEY', 'a long secret key with spaces in it'],
    ['PAWL_MEMBERSHIP_URL', 'http://user:secret@host'],
    ['PAWL_MEMBERSHIP_URL', 'http://host/?key=secret'],
    ['PAWL_REDIS_URL', 'http://:secret@host'],
  ];
  for (const [variable, text] of secret) {
    test(`refuses ${variable}=${text} without repeating the secret`, () => {
      assert.throws(
        () => loadConfig({ environment: { [variable]: text } }),
        (error: Error) =>
          error.message.startsWith(`${variable} must be`) && !/secret/.test(error.message),
      );
    });
  }

  test('reads keys, callers and rate limits', () => {
    const hash = `sha256:${'0a'.repeat(32)}`;
    const { config } = loadConfig({
      environment: {
        PAWL_API_KEYS: `${hash}, ${hash.toUpperCase().replace('SHA', 'sha')}`,
        PAWL_INTERNAL_KEY: 'k'.repeat(24),
        PAWL_INTERNAL_CALLER_IDS: 'orchestrator,0123456789abcdef',
        PAWL_MEMBERSHIP_URL: 'https://membership.example/api/',
        PAWL_REDIS_URL: 'redis://127.0.0.1:6379/1',
        PAWL_RATE_CAPACITY: '1000',
      },
    });
    assert.equal(config.apiKeys?.length, 2);
    assert.deepEqual(config.internalCallerIds, ['orchestrator', '0123456789abcdef']);
    assert.equal(config.membershipUrl, 'https://membership.example/api/');
    assert.deepEqual([config.rateCapacity, config.rateFloor], [1000, 600]);
  });

  test('warns about unknown settings, and names the closest', () => {
    const { warnings } = loadConfig({
      environment: { PAWL_DATABASE: 'x', OTHER: 'y' },
      file: '{ "worker": 3 }',
    });
    assert.equal(warnings.length, 2);
    assert.match(warnings[0] ?? '', /PAWL_DATABASE .* closest one is PAWL_DATABASE_URL/);
    assert.match(warnings[1] ?? '', /worker .* closest one is workers/);
  });

  test('never suggests a setting that is only for tests', () => {
    const { warnings } = loadConfig({ environment: { PAWL_FAILPOINTS: 'x' } });
    assert.doesNotMatch(warnings[0] ?? '', /is PAWL_FAILPOINT$/);
  });
});
