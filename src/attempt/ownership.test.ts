import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

test('the registry imports the kernel, the log and its state, nothing about sources', () => {
  const text = readFileSync(new URL('registry.ts', import.meta.url), 'utf8');
  const imported = [...text.matchAll(/ from '([^']+)'/g)].map(([, path = '']) => path);
  const own = imported.filter((path) => !/^\.\.\/(?:kernel|observe)\//.test(path));
  assert.deepEqual(own.toSorted(), ['./cancellation.ts', './state.ts']);
});
