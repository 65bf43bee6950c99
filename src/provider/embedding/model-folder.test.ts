import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import {
  addFromFolder,
  addFromHub,
  folderOfModel,
  hubFiles,
  installedFolder,
  knownModels,
  listModels,
  verifyModel,
} from './model-folder.ts';

const weights = 'the weights of a small model';
const tokenizer = JSON.stringify({ model: { type: 'WordPiece', vocab: {} } });
const sha256 = createHash('sha256').update(weights).digest('hex');
const { signal } = new AbortController();

function setup(t: TestContext) {
  const folder = temporaryDirectory(t);
  const source = join(folder, 'source');
  mkdirSync(source);
  writeFileSync(join(source, 'model.onnx'), weights);
  writeFileSync(join(source, 'tokenizer.json'), tokenizer);
  writeFileSync(join(source, 'README.md'), 'not a part of the model');
  return { models: join(folder, 'models'), source };
}

/** Serves exactly the given paths, after a redirect, as hubs do. */
async function hub(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer(({ method, url = '' }, response) => {
    const body = files[url.replace(/^\/stored/, '')];
    if (method !== 'GET' || body === undefined) response.writeHead(404).end();
    else if (url.startsWith('/stored')) response.writeHead(200).end(body);
    else response.writeHead(302, { location: `/stored${url}` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/model`;
}

describe('the folder of models', () => {
  test('takes the files of a model from a folder, and no others', async (t) => {
    const { models, source } = setup(t);
    assert.deepEqual(await listModels(models), []);
    const added = await addFromFolder({ models, name: 'small', source, sha256 });
    assert.equal(added.model, `onnx:small:${weights.length}`);
    assert.deepEqual(readdirSync(join(models, 'small')).sort(), [
      'checksums.json',
      'model.onnx',
      'tokenizer.json',
    ]);
    assert.deepEqual(await listModels(models), [added]);
    assert.deepEqual((await verifyModel(models, 'small')).problems, []);
  });

  test('reports a file that changed and a file that is missing', async (t) => {
    const { models, source } = setup(t);
    const { folder } = await addFromFolder({ models, name: 'small', source });
    writeFileSync(join(folder, 'model.onnx'), weights.replace('small', 'SMALL'));
    rmSync(join(folder, 'tokenizer.json'));
    assert.deepEqual((await verifyModel(models, 'small')).problems, [
      'model.onnx has changed',
      'tokenizer.json is missing',
    ]);
  });

  test('keeps nothing of a folder whose model has another checksum', async (t) => {
    const { models, source } = setup(t);
    const adding = addFromFolder({ models, name: 'small', source, sha256: '0'.repeat(64) });
    await assert.rejects(adding, /has the checksum .* nothing was added/);
    assert.deepEqual(readdirSync(models), []);
  });

  test('refuses a second model of a name, and names that leave the folder', async (t) => {
    const { models, source } = setup(t);
    await addFromFolder({ models, name: 'small', source });
    await assert.rejects(addFromFolder({ models, name: 'small', source }), /exists/);
    for (const name of ['../up', '.hidden', 'Upper', '']) {
      await assert.rejects(addFromFolder({ models, name, source }), /cannot name a model/);
    }
    assert.throws(() => installedFolder(models, 'absent'), /pawl models add absent/);
  });

  test('finds the model of a corpus by its recorded name and size', async (t) => {
    const { models, source } = setup(t);
    const { model, folder } = await addFromFolder({ models, name: 'small', source });
    assert.equal(folderOfModel(models, model), folder);
    assert.equal(folderOfModel(models, 'onnx:small:1'), undefined);
    assert.equal(folderOfModel(models, 'onnx:other:1'), undefined);
    assert.equal(folderOfModel(models, 'onnx:../source:28'), undefined);
  });
});

describe('a model from a hub', () => {
  const served = { '/model/onnx/model.onnx': weights, '/model/tokenizer.json': tokenizer };

  test('is added if its checksum is the expected one', async (t) => {
    const { models } = setup(t);
    const address = await hub(t, served);
    const files = hubFiles(sha256);
    const added = await addFromHub({ models, name: 'small', address, files, fetch, signal });
    assert.equal(added.model, `onnx:small:${weights.length}`);
    assert.deepEqual((await verifyModel(models, 'small')).problems, []);
  });

  test('is refused, and nothing is kept, with another checksum or a missing file', async (t) => {
    const { models } = setup(t);
    const adding = async (content: Readonly<Record<string, string>>, expected: string) => {
      const address = await hub(t, content);
      const files = hubFiles(expected);
      return addFromHub({ models, name: 'small', address, files, fetch, signal });
    };
    await assert.rejects(adding(served, 'f'.repeat(64)), /nothing was added/);
    const partial = { '/model/onnx/model.onnx': weights };
    await assert.rejects(adding(partial, sha256), /tokenizer\.json answered with status 404/);
    assert.deepEqual(readdirSync(models), []);
    assert.equal(existsSync(join(models, 'small')), false);
  });

  test('has a fixed revision and a checksum for every file in the table', () => {
    for (const { address, files } of Object.values(knownModels)) {
      assert.match(address, /\/[0-9a-f]{40}$/);
      for (const file of files) assert.match(file.sha256 ?? '', /^[0-9a-f]{64}$/);
    }
  });
});
