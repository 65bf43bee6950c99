import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { openBlobDirectory } from '../../blob/directory.ts';
import type { BatchProvider } from '../../provider/batch/batch-provider.ts';
import { realWorld } from '../world.ts';
import {
  makeProviders,
  openProviders,
  type ProviderSettings,
  readProviderSettings,
} from './batch-providers.ts';

const keys = { region: 'eu-west-1', access_key_id: 'id', secret_access_key: 'secret' };

const world = realWorld();
const blobs = openBlobDirectory(tmpdir(), world);
const reach = { world, allowed: new Set<string>(), blobs };

async function makeAws(entry: object) {
  return (await makeProviders({ aws: { ...keys, ...entry } }, reach))[0];
}

test('only buckets that the operator named are read with the rights of the operator', async () => {
  const provider = await makeAws({ buckets: ['talks'] });
  const refused = (source: string) => provider?.refuses?.(source) ?? '';
  assert.equal(refused('s3://talks/one.wav'), '');
  assert.match(refused('s3://payroll/one.wav'), /bucket payroll is not among/);
  assert.match(refused('s3://talks.payroll/one.wav'), /not among/);
  assert.match(refused('s3://talks/'), /not among/);
  assert.match(refused('https://talks/one.wav'), /s3/);
});

test('an entry without buckets, or with a wrong price, is refused at the start', async () => {
  await assert.rejects(makeAws({}), /aws needs buckets: a list/);
  await assert.rejects(makeAws({ buckets: 'talks' }), /aws needs buckets: a list/);
  const wrong = { buckets: ['talks'], cents_per_hour: 'much' };
  await assert.rejects(makeAws(wrong), /cents_per_hour and normal_cents_per_hour are numbers/);
});

test('an invalid address is refused at the start', async () => {
  for (const url of ['api.openai.com/v1', 'ftp://api.openai.com', '//proxy']) {
    const made = makeProviders({ openai: { key: 'key', url } }, reach);
    await assert.rejects(made, /batch provider openai: url is an http or https address/);
  }
});

test('a bound on answers that is no whole number from 1 is refused at the start', async () => {
  for (const max_tokens of [0, 1.5, '8192', null]) {
    const settings = { anthropic: { key: 'key', max_tokens } };
    await assert.rejects(makeProviders(settings, reach), /max_tokens is a whole number from 1/);
  }
});

const complete: BatchProvider = {
  name: 'ACME',
  taskTypes: ['summary'],
  split: 'together',
  merge: 'flat',
  recognizedBy: 'token',
  find: async () => undefined,
  submit: async ({ token }) => token,
  poll: async () => ({ said: 'running' }),
  cancel: async () => true,
};

const incomplete: readonly [change: object, problem: RegExp][] = [
  [{ name: 'A,B' }, /name must be letters, digits, - and _/],
  [{ taskTypes: [] }, /taskTypes must be a list of at least one text/],
  [{ split: 'half' }, /split must be one of together, source, model, source_and_model/],
  [{ merge: undefined }, /merge must be one of flat, by_model/],
  [{ recognizedBy: 'luck' }, /recognizedBy must be one of token, list, note, none/],
  [{ poll: 'later', cancel: undefined }, /poll must be a function; cancel must be a function/],
  [{ models: 'gpt' }, /models must be absent, or a regular expression/],
  [{ modelsMax: -1 }, /modelsMax must be absent, or a whole number from 0/],
  [{ url: 'nowhere' }, /url must be absent, or an address/],
  [{ hourPrice: { batch: 'cheap' } }, /hourPrice must be absent, or an object with batch/],
];

test('an adapter that does not serve the port is refused with all that is wrong', async () => {
  for (const [change, problem] of incomplete) {
    const batchAdapters = [{ ...complete, ...change } as BatchProvider];
    await assert.rejects(openProviders({ batchAdapters }, reach), problem);
  }
});

test('two providers of one name are refused', async () => {
  const twice = openProviders({ batchAdapters: [complete, complete] }, reach);
  await assert.rejects(twice, /two batch providers ACME: give one of them another name/);
});

test('a module is loaded from beside the file that names it', async (t) => {
  const folder = temporaryDirectory(t);
  const source = `export const makeBatchProvider = ({ label }) => ({
    name: label, taskTypes: ['summary'], split: 'together', merge: 'flat', recognizedBy: 'none',
    find() {}, submit() {}, poll() {}, cancel() {},
  });`;
  writeFileSync(join(folder, 'acme.mjs'), source);
  const file = join(folder, 'providers.json');
  const entry = { module: './acme.mjs', label: 'ACME', cents_per_hour: 20 };
  writeFileSync(file, JSON.stringify({ acme: entry }));
  const [made] = await openProviders({ batchProviders: readProviderSettings(file) }, reach);
  assert.deepEqual([made?.name, made?.hourPrice], ['ACME', { batch: 20, normal: 20 }]);
});

test('a module that is absent, broken or something else is refused by its path', async (t) => {
  const folder = temporaryDirectory(t);
  const cases: readonly [file: string, text: string | undefined, problem: RegExp][] = [
    ['absent.mjs', undefined, /module .*absent\.mjs of batch provider acme cannot be loaded/],
    ['broken.mjs', 'export const = 1;', /broken\.mjs .* cannot be loaded: /],
    ['throws.mjs', 'throw new Error("no licence");', /throws\.mjs .* cannot be loaded: no licence/],
    ['other.mjs', 'export const a = 1;', /other\.mjs .* must export a function makeBatchProvider/],
    ['none.mjs', 'export const makeBatchProvider = () => 1;', /none\.mjs .* must be an object/],
  ];
  for (const [name, text, problem] of cases) {
    const module = join(folder, name);
    if (text !== undefined) writeFileSync(module, text);
    await assert.rejects(makeProviders({ acme: { module } }, reach), problem);
  }
  const nothing = { acme: 'x' } as unknown as ProviderSettings;
  await assert.rejects(
    makeProviders(nothing, reach),
    /entry of batch provider acme must be an obj/,
  );
});
