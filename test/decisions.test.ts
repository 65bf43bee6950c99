/** The index of decisions lists every page once, with the title that the page has. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../docs/decisions', import.meta.url));
const files = globSync('[0-9]*.md', { cwd: folder }).sort();
const rows = [
  ...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(
    /^\| \[(\d{4})\]\(([^)]+)\) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm,
  ),
].map(([, number = '', file = '', title = '', status = '', line = '']) => ({
  ...{ number, file, title, status, line },
}));

test('every decision is in the index, in order, and every row has its file', () => {
  assert.ok(files.length > 50);
  assert.deepEqual(
    rows.map(({ file }) => file),
    files,
  );
});

test('each row has the number and the title of its page', () => {
  for (const { number, file, title } of rows) {
    const [heading] = readFileSync(join(folder, file), 'utf8').split('\n');
    assert.equal(heading, `# ${Number(number)}. ${title}`, file);
    assert.ok(file.startsWith(`${number}-`), file);
  }
});

test('a status is accepted, or names the decision that replaced it', () => {
  for (const { file, status } of rows) {
    const [, successor] = /^superseded by (\d{4})$/.exec(status) ?? [];
    assert.ok(status === 'accepted' || rows.some(({ number }) => number === successor), file);
  }
});
