/** Flags, variables, `.env` and the configuration file, as `pawl config show` explains them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openRunner } from './pawl-process.ts';

interface Shown {
  readonly settings: readonly {
    readonly key: string;
    readonly value: unknown;
    readonly source: string;
    readonly source_name: string | null;
    readonly error: string | null;
  }[];
}

const key = 'a-key-that-nobody-may-see';

describe('pawl config show', () => {
  test('names the source of every value: flag, environment, .env, file, default', async (t) => {
    const place = openRunner(t);
    place.write('.env', `PAWL_WORKERS=7\nPAWL_HOST=10.0.0.1\nPAWL_KEY="${key}"\nOTHER=1\n`);
    place.write('pawl.config.json', '{ "workers": 9, "render": "always" }');
    const environment = { PAWL_HOST: '127.0.0.2', PAWL_PORT: '' };
    const args = ['config', 'show', '--data', 'x', '--json'];
    const { stdout, stderr, code } = await place.run(args, { environment });
    assert.deepEqual([code, stderr], [0, '']);
    const { settings } = JSON.parse(stdout) as Shown;
    const found = (name: string) => {
      const row = settings.find((each) => each.key === name);
      return [row?.value, row?.source, row?.source_name];
    };
    assert.deepEqual(found('data'), ['x', 'flag', '--data']);
    assert.deepEqual(found('host'), ['127.0.0.2', 'environment', 'PAWL_HOST']);
    assert.deepEqual(found('workers'), [7, 'env_file', '.env']);
    assert.deepEqual(found('render'), ['always', 'config_file', 'pawl.config.json']);
    assert.deepEqual(found('port'), [7300, 'default', null]);
    assert.deepEqual(found('key'), [null, 'env_file', '.env']);
    assert.equal(stdout.includes(key), false);
  });

  test('hides secrets and passwords in what people read', async (t) => {
    const place = openRunner(t);
    place.write('secret.env', `PAWL_KEY=${key}\nPAWL_EMBEDDER_URL=https://me:${key}@host/v1\n`);
    const { stdout } = await place.run(['config', 'show', '--env-file', 'secret.env']);
    assert.match(stdout, /PAWL_KEY +\(hidden\) +secret\.env/);
    assert.match(stdout, /PAWL_EMBEDDER_URL +https:\/\/host\/v1 +secret\.env/);
    assert.equal(stdout.includes(key), false);
    assert.doesNotMatch(stdout, /PAWL_PORT/);
    assert.match((await place.run(['config', 'show', '--all'])).stdout, /PAWL_PORT +7300 +default/);
  });

  test('shows the other settings if one is invalid', async (t) => {
    const place = openRunner(t);
    place.write('.env', 'PAWL_WORKERS=many\nPAWL_LOG=info\n');
    const { code, stdout, stderr } = await place.run(['config', 'show']);
    assert.equal(code, 64);
    assert.match(stdout, /PAWL_WORKERS +invalid +\.env/);
    assert.match(stdout, /PAWL_LOG +info +\.env/);
    assert.match(stderr, /PAWL_WORKERS in \.env must be a whole number/);
  });
});

describe('.env', () => {
  test('is read from the working directory, and unknown names in it are reported', async (t) => {
    const place = openRunner(t);
    place.write('docs/cat.md', 'The cat sleeps on the harmonium.');
    place.write('.env', 'PAWL_DATA=store\nPAWL_CORPUS=pets\nPAWL_WORKER=2\n');
    const { code, stdout, stderr } = await place.run(['ingest', 'docs']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /1 document indexed/);
    assert.match(stderr, /PAWL_WORKER is not a setting.*PAWL_WORKERS \(in \.env\)/);
    assert.match(stderr, /into pets/);
    const found = await place.run(['search', 'harmonium']);
    assert.match(found.stdout, /1 passage for “harmonium” in pets/);
    const named = await place.run(['search', 'pets', 'harmonium', '--data', 'store']);
    assert.match(named.stdout, /1 passage/);
  });

  test('that --env-file names must exist', async (t) => {
    const place = openRunner(t);
    // Node refuses a missing file before Pawl runs. A folder reaches Pawl.
    const missing = await place.run(['jobs', '--env-file', 'none.env']);
    assert.ok([9, 64].includes(missing.code ?? 0), String(missing.code));
    assert.match(missing.stderr, /none\.env/);
  });
});
