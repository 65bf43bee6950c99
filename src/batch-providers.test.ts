import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { makeProviders } from './batch-providers.ts';
import { openBlobDirectory } from './blob/directory.ts';
import { realWorld } from './world.ts';

const keys = { region: 'eu-west-1', access_key_id: 'id', secret_access_key: 'secret' };

function makeAws(entry: object) {
  const world = realWorld();
  const blobs = openBlobDirectory(tmpdir(), world);
  const reach = { world, allowed: new Set<string>(), blobs };
  return makeProviders({ aws: { ...keys, ...entry } }, reach)[0];
}

test('only the buckets that the operator named are read with the rights of the operator', () => {
  const provider = makeAws({ buckets: ['talks'] });
  const refused = (source: string) => provider?.refuses?.(source) ?? '';
  assert.equal(refused('s3://talks/one.wav'), '');
  assert.match(refused('s3://payroll/one.wav'), /bucket payroll is not among/);
  assert.match(refused('s3://talks.payroll/one.wav'), /not among/);
  assert.match(refused('s3://talks/'), /not among/);
  assert.match(refused('https://talks/one.wav'), /s3/);
});

test('an entry that names no buckets, or a price that is none, is refused at the start', () => {
  assert.throws(() => makeAws({}), /aws needs buckets: a list/);
  assert.throws(() => makeAws({ buckets: 'talks' }), /aws needs buckets: a list/);
  const wrong = { buckets: ['talks'], cents_per_hour: 'much' };
  assert.throws(() => makeAws(wrong), /cents_per_hour and normal_cents_per_hour are numbers/);
});
