/** The layout in ARCHITECTURE.md names every folder of src/, down to the second level. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const levelsMax = 2;

test('the layout names the folders of src/, and only those', () => {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  assert.deepEqual(foldersIn(page).toSorted(), foldersBelow('src', 0).toSorted());
});

test('a layout is a tree of folders with descriptions, two spaces for each level', () => {
  const page = [
    '```text',
    'lib/  comes before the heading',
    '```',
    '## Layout',
    'Words.',
    '```text',
    'src/',
    '  kernel/  pure decisions',
    '    limits/  every bound',
    '  app/  the composition root',
    '```',
    '```text',
    'web/  is another block',
    '```',
  ].join('\n');
  assert.deepEqual(foldersIn(page), ['src/kernel', 'src/kernel/limits', 'src/app']);
  for (const line of ['  kernel/', '   kernel/  odd indent', '      limits/  skips a level']) {
    const wrong = page.replace('  kernel/  pure decisions', line);
    assert.throws(() => foldersIn(wrong), /layout/, line);
  }
  assert.throws(() => foldersIn('## Layout\n\nWords.'), /no layout/);
});

/** The paths below the first line of the first text block after the heading. */
function foldersIn(page: string): string[] {
  const [, section = ''] = page.split('## Layout\n');
  const [, block] = /^```text\n([\s\S]*?)^```/m.exec(section) ?? [];
  assert.ok(block !== undefined, 'ARCHITECTURE.md has no layout in a text block');
  const [first = '', ...lines] = block.trimEnd().split('\n');
  const path = [first.replace(/\/.*$/, '')];
  return lines.map((line) => {
    const [, indent = '', name] = /^((?: {2})+)([\w-]+)\/ {2}\S/.exec(line) ?? [];
    assert.ok(name !== undefined, `the layout has the line ${JSON.stringify(line)}`);
    const level = indent.length / 2;
    assert.ok(level <= path.length, `the layout has ${name}/ below no folder`);
    path.splice(level, path.length, name);
    return path.join('/');
  });
}

function foldersBelow(folder: string, level: number): string[] {
  if (level === levelsMax) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`)
    .flatMap((path) => [path, ...foldersBelow(path, level + 1)]);
}
