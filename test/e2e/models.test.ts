/** `pawl models`: added from a folder, listed with its setting, verified, refused with advice. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type CommandRunner, openRunner } from './pawl-process.ts';

interface Listed {
  readonly models: readonly { readonly name: string; readonly problems?: readonly string[] }[];
}

function withModel(pawl: CommandRunner): void {
  pawl.write('small/model.onnx', 'not a real model');
  pawl.write('small/vocab.txt', '[PAD]\n[UNK]\n[CLS]\n[SEP]\ncat\n');
}

test('a model is added from a folder, listed and verified', async (t) => {
  const pawl = openRunner(t);
  withModel(pawl);
  const added = await pawl.run(['models', 'add', 'small', 'small']);
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stdout, /PAWL_EMBEDDER=onnx:\S+small/);
  const { models } = await pawl.readOne<Listed>(['models']);
  assert.deepEqual(
    models.map(({ name }) => name),
    ['small'],
  );
  const verified = await pawl.run(['models', 'verify', '--files']);
  assert.equal(verified.code, 0, verified.stderr);
  assert.match(verified.stdout, /small .*OK: files unchanged/);
});

test('a changed model file is reported, with the exit code of an error', async (t) => {
  const pawl = openRunner(t);
  withModel(pawl);
  const { folder } = await pawl.readOne<{ folder: string }>(['models', 'add', 'small', 'small']);
  writeFileSync(join(pawl.folder, folder, 'model.onnx'), 'a damaged  model');
  const verified = await pawl.run(['models', 'verify', 'small']);
  assert.equal(verified.code, 1);
  assert.match(verified.stdout, /model\.onnx has changed/);
});

test('minilm without its model says how to add it', async (t) => {
  const pawl = openRunner(t);
  pawl.write('docs/cat.md', 'The cat sleeps.');
  const environment = { PAWL_EMBEDDER: 'minilm' };
  const refused = await pawl.run(['ingest', 'docs', '--corpus', 'notes'], { environment });
  assert.equal(refused.code, 64, refused.stderr);
  assert.match(refused.stderr, /pawl models add minilm/);
});

test('a download without a known checksum is refused', async (t) => {
  const pawl = openRunner(t);
  const url = 'https://hub.example/other';
  const refused = await pawl.run(['models', 'add', 'other', url]);
  assert.equal(refused.code, 64);
  assert.match(refused.stderr, /--checksum HEX/);
});
