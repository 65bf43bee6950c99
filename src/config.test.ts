import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ConfigInput, loadConfig } from './config.ts';

describe('the configuration', () => {
  test('takes the flag, then the variable, then the file, then what stands in the table', () => {
    const file = '{ "data": "from-file" }';
    const environment = { PAWL_DATA: 'from-environment' };
    const dataOf = (input: Partial<ConfigInput>) =>
      loadConfig({ environment: {}, ...input }).config.data;
    assert.equal(dataOf({ file, environment, flags: { data: 'from-flag' } }), 'from-flag');
    assert.equal(dataOf({ file, environment }), 'from-environment');
    assert.equal(dataOf({ file }), 'from-file');
    assert.equal(dataOf({}), '.pawl');
  });

  test('takes an empty variable for one that is not set', () => {
    assert.equal(loadConfig({ environment: { PAWL_WORKERS: '' } }).config.workers, 64);
  });

  test('reads exceptions from a list, in the file or with commas', () => {
    const hosts = ['127.0.0.1:4010', '[::1]:80'];
    const environment = { PAWL_ALLOW_HOSTS: hosts.join(', ') };
    assert.deepEqual(loadConfig({ environment }).config.allowHosts, hosts);
    const file = JSON.stringify({ allowHosts: hosts });
    assert.deepEqual(loadConfig({ environment: {}, file }).config.allowHosts, hosts);
  });

  const refused: readonly [Partial<ConfigInput>, RegExp][] = [
    [{ environment: { PAWL_WORKERS: '0' } }, /^PAWL_WORKERS must be a whole number from 1 to 512/],
    [{ environment: { PAWL_LOG: 'loud' } }, /^PAWL_LOG must be one of silent, .*, not "loud"$/],
    [{ file: '{ "workers": 1.5 }' }, /^workers in pawl\.config\.json must be a whole number/],
    [{ environment: { PAWL_ALLOW_HOSTS: 'wiki' } }, /^PAWL_ALLOW_HOSTS must be host:port pairs/],
    [{ environment: { PAWL_ALLOW_HOSTS: 'a:80,http://b:80' } }, /must be host:port pairs/],
    [{ environment: { PAWL_EMBEDDER: 'cohere' } }, /^PAWL_EMBEDDER must be local, openai:MODEL/],
    [{ environment: { PAWL_EMBEDDER_PRICE: '-1' } }, /must be a number of cents/],
    [{ environment: { PAWL_EMBEDDER_KEY: 'my secret' } }, /must be one word, not what was given$/],
    [{ file: '[]' }, /must hold one JSON object$/],
    [{ file: '{' }, /is not JSON/],
    [{ flags: { data: '' } }, /^--data must be a folder/],
  ];
  for (const [input, message] of refused) {
    test(`refuses ${JSON.stringify(input)}`, () => {
      const expected = { code: 'usage_error', message };
      assert.throws(() => loadConfig({ environment: {}, ...input }), expected);
    });
  }

  test('does not repeat the password of a database that it refuses', () => {
    const environment = { PAWL_DATABASE_URL: 'mysql://user:secret@host/name' };
    assert.throws(
      () => loadConfig({ environment }),
      (error: Error) => /PAWL_DATABASE_URL/.test(error.message) && !/secret/.test(error.message),
    );
  });

  test('warns of what it does not know, and names the closest', () => {
    const { warnings } = loadConfig({
      environment: { PAWL_DATABASE: 'x', OTHER: 'y' },
      file: '{ "worker": 3 }',
    });
    assert.equal(warnings.length, 2);
    assert.match(warnings[0] ?? '', /PAWL_DATABASE .* closest one is PAWL_DATABASE_URL/);
    assert.match(warnings[1] ?? '', /worker .* closest one is workers/);
  });

  test('never suggests what is only for tests', () => {
    const { warnings } = loadConfig({ environment: { PAWL_FAILPOINTS: 'x' } });
    assert.doesNotMatch(warnings[0] ?? '', /is PAWL_FAILPOINT$/);
  });
});
