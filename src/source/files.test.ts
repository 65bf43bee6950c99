import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { expandSources } from './sources.ts';

test('a pattern finds files below a folder whose name begins with a dot', async (t) => {
  const directory = temporaryDirectory(t);
  const notes = join(directory, '.local', 'node_modules', 'notes');
  mkdirSync(join(notes, '.git'), { recursive: true });
  for (const name of ['a.md', '.b.md', '.git/c.md']) writeFileSync(join(notes, name), name);
  const found = async (input: string, from = directory) =>
    (await expandSources([input], { directory: from })).map(({ source }) => source);
  const expected = [join(notes, 'a.md')];
  assert.deepEqual(await found(join(notes, '**/*.md')), expected);
  assert.deepEqual(await found('.local/node_modules/*/*.md'), expected);
  assert.deepEqual(await found('../n*/**/*.md', notes), expected);
  await assert.rejects(found('.other/**/*.md'), { code: 'source_missing' });
});
