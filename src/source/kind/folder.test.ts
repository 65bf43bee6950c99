import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { pathOfSource } from '../../pipeline/fetch/file-path.ts';
import { folderKind } from './folder.ts';

const strange = [
  'a b.md',
  'a\nb.md',
  'a.md',
  'a-b.md',
  '\u00e9.md',
  'e\u0301.md',
  '\u{1f99a}.md',
  '\ufb01\uffee.md',
  '\ufffd.md',
  '\ufffd\ufffd.md',
  '\ufffdff',
  `${'long'.repeat(62)}.md`,
];

function setup(t: { after(release: () => void): void }, names: readonly (string | Buffer)[]) {
  const folder = temporaryDirectory(t);
  for (const parent of ['', 'a', 'a/\ufffd\u{1f99a}']) {
    const inside = Buffer.from(`${join(folder, parent)}/`);
    mkdirSync(inside, { recursive: true });
    for (const name of names) {
      writeFileSync(Buffer.concat([inside, Buffer.from(name)]), `${parent}: ${name}`);
    }
  }
  const kind = folderKind();
  const place = { location: folder, options: {} };
  const list = async (after = ''): Promise<string[][]> => {
    const { signal } = new AbortController();
    const pages: string[][] = [];
    for await (const page of kind.list(place, { after, signal, stamps: async () => new Map() })) {
      assert.deepEqual(page.problems, []);
      pages.push(page.entries.map(({ key }) => key));
    }
    return pages;
  };
  const contentOf = (key: string): string =>
    readFileSync(pathOfSource(kind.sourceOf(place, key).source), 'utf8');
  return { folder, list, contentOf };
}

function inOrder(keys: readonly string[]): string[] {
  return keys
    .map((key) => Buffer.from(key))
    .sort(Buffer.compare)
    .map(String);
}

describe('a folder as a source', () => {
  test('lists files of any name once, in the order of their bytes', async (t) => {
    const names = [...strange, ...(process.platform === 'linux' ? [Buffer.from('ff.md')] : [])];
    if (process.platform === 'linux') names.push(Buffer.from([0xff, 0x2e]));
    const { list, contentOf } = setup(t, names);
    const keys = (await list()).flat();
    assert.deepEqual(keys, inOrder(keys));
    assert.equal(new Set(keys).size, 3 * names.length);
    assert.equal(new Set(keys.map(contentOf)).size, 3 * names.length);
  });

  test('continues after any key', async (t) => {
    const { list } = setup(t, strange);
    const keys = (await list()).flat();
    for (const [index, key] of keys.entries()) {
      assert.deepEqual((await list(key)).flat(), keys.slice(index + 1));
    }
  });

  test('is read in pages, and lists no link to a folder', async (t) => {
    const { folderPageMax } = limits.sync;
    const names = Array.from({ length: folderPageMax }, (_, number) => `${number}.md`);
    const { folder, list } = setup(t, names);
    symlinkSync(join(folder, 'a'), join(folder, 'link'));
    const pages = await list();
    assert.deepEqual(
      pages.map(({ length }) => length),
      [folderPageMax, folderPageMax, folderPageMax, 0],
    );
    assert.deepEqual(pages.flat(), inOrder(pages.flat()));
  });
});
