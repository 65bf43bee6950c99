import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../../../test/support/temporary.ts';
import { unpackOcrModel } from './ocr-model.ts';

test('the model is unpacked once for concurrent callers', async (t) => {
  const parent = temporaryDirectory(t);
  const folders = await Promise.all([1, 2, 3].map(() => unpackOcrModel(parent)));
  assert.equal(new Set(folders).size, 1);
  const [folder = ''] = folders;
  assert.deepEqual(readdirSync(folder), ['eng.traineddata']);
  const { ino } = statSync(join(folder, 'eng.traineddata'));
  await unpackOcrModel(parent);
  assert.equal(statSync(join(folder, 'eng.traineddata')).ino, ino, 'it is left as it is');
});

test('a truncated or damaged model is replaced', async (t) => {
  const parent = temporaryDirectory(t);
  const path = join(await unpackOcrModel(parent), 'eng.traineddata');
  const whole = readFileSync(path);
  const damaged = Buffer.from(whole);
  damaged[1000] = (damaged[1000] ?? 0) ^ 1;
  for (const bytes of [whole.subarray(0, 5000), damaged]) {
    writeFileSync(path, bytes);
    await unpackOcrModel(parent);
    assert.ok(readFileSync(path).equals(whole));
  }
});
