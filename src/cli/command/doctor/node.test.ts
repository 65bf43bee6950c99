import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkNode } from './node.ts';

test('accepts each Node that the package says it runs on', () => {
  const manifest = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8');
  assert.equal(JSON.parse(manifest).engines.node, '^22.16 || >=24');
  const verdicts = ['v20.20.2', 'v22.15.1', 'v22.16.0', 'v23.11.1', 'v24.0.0', 'v26.1.0'].map(
    (version) => checkNode(version).verdict,
  );
  assert.deepEqual(verdicts, ['fail', 'fail', 'ok', 'fail', 'ok', 'ok']);
});
