import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { TestWorld } from '../../../test/support/test-world.ts';
import { embeddersFor } from './models.ts';

test('minilm is the model of that name in the folder of models', (t) => {
  const models = temporaryDirectory(t);
  const settings = { choice: 'minilm', models };
  assert.throws(() => embeddersFor(settings, new TestWorld()), /pawl models add minilm/);
  mkdirSync(join(models, 'minilm'));
  writeFileSync(join(models, 'minilm', 'model.onnx'), 'weights');
  assert.equal(embeddersFor(settings, new TestWorld()).embedder.model, 'onnx:minilm:7');
});

test('a corpus of an installed model is searched with it if the settings name another one', (t) => {
  const models = temporaryDirectory(t);
  mkdirSync(join(models, 'minilm'));
  writeFileSync(join(models, 'minilm', 'model.onnx'), 'weights');
  const { otherEmbedder } = embeddersFor({ choice: 'local', models }, new TestWorld());
  assert.equal(otherEmbedder('onnx:minilm:7')?.model, 'onnx:minilm:7');
  assert.equal(otherEmbedder('onnx:minilm:8'), undefined);
  assert.equal(otherEmbedder('onnx:absent:7'), undefined);
});
