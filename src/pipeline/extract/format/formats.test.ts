import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { knownExtensions, typeByName } from './formats.ts';

/** The file names in a table of `docs/formats.md`, found by the header of its first column. */
function listed(head: string): string[] {
  const page = readFileSync(new URL('../../../../docs/formats.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split(`\n| ${head} | file names |`);
  const [rows = ''] = table.split('\n\n');
  return rows.split('\n').flatMap((row) => {
    const [, , names = ''] = row.split('|');
    return Array.from(names.matchAll(/`([^`]+)`/g), ([, name = '']) => name);
  });
}

test('docs/formats.md lists exactly the file names that are read, each once', () => {
  assert.deepEqual(listed('kind').sort(), [...knownExtensions].sort());
});

test('docs/formats.md lists no readable format as unreadable', () => {
  const names = listed('not read');
  assert.ok(names.length > 10);
  assert.deepEqual(
    names.filter((name) => typeByName(`a.${name}`) !== undefined),
    [],
  );
});
