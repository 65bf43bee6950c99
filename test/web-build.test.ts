/** The committed workbench matches its sources, and is small. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { viteOptions } from '../web/vite-options.ts';
import { temporaryDirectory } from './support/temporary.ts';

const committed = fileURLToPath(new URL('../web/dist/', import.meta.url));
const firstLoadBytesMax = 170_000;

describe('the built workbench', () => {
  test('is byte for byte what its sources make', async (t) => {
    const fresh = temporaryDirectory(t);
    await build(viteOptions(fresh));
    const advice = 'run `npm run generate`';
    assert.deepEqual(filesOf(committed), filesOf(fresh), advice);
    for (const path of filesOf(fresh)) {
      const [one, other] = [committed, fresh].map((folder) => readFileSync(join(folder, path)));
      assert.ok(one && other && one.equals(other), `${path} differs: ${advice}`);
    }
  });

  test('is less than 170 kB for the first page, packed, with its typeface', () => {
    const index = readFileSync(join(committed, 'index.html'), 'utf8');
    const named = [...index.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path = '']) => path);
    const needed = new Set(['index.html']);
    for (const path of named) need(needed, path);
    assert.ok(needed.size > 3, [...needed].join());
    const others = filesOf(committed).filter((path) => path.endsWith('.js') && !needed.has(path));
    assert.ok(others.length > 10, `only ${others.join()} are loaded with their pages`);
    assert.match([...needed].join(), /latin-wght/);
    const sizes = [...needed].map((path) => packed(path).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total < firstLoadBytesMax, `the first load is ${total} bytes`);
  });

  test('contains the license of its typeface', () => {
    const [shipped, original] = [
      join(committed, 'typeface-license.txt'),
      fileURLToPath(import.meta.resolve('@fontsource-variable/geist/LICENSE')),
    ].map((path) => readFileSync(path, 'utf8'));
    assert.equal(shipped, original);
  });

  test('contains nothing inline that a strict policy would forbid', () => {
    const index = readFileSync(join(committed, 'index.html'), 'utf8');
    assert.doesNotMatch(index, /<style|style=|\son\w+=|<script(?![^>]*\bsrc=)/);
  });
});

/** As the service sends it. */
function packed(path: string): Buffer {
  return gzipSync(readFileSync(join(committed, path)), { level: 9 });
}

function filesOf(folder: string): string[] {
  return globSync('**/*.*', { cwd: folder }).sort();
}

/** A script needs all its imports first; a style sheet needs the typeface of Latin text. */
function need(needed: Set<string>, path: string): void {
  if (needed.has(path)) return;
  needed.add(path);
  if (path.endsWith('.css')) {
    const text = readFileSync(join(committed, path), 'utf8');
    const [, font] = /url\(\.\/([^)]*-latin-wght[^)]*)\)/.exec(text) ?? [];
    if (font !== undefined) need(needed, `assets/${font}`);
  }
  if (!path.endsWith('.js')) return;
  const text = readFileSync(join(committed, path), 'utf8');
  const imports = text.matchAll(
    /(?:^|[;}\s])import(?:[^'"`;()]*?from)?\s*["'`]\.\/([^"'`]+)["'`]/g,
  );
  for (const [, name = ''] of imports) need(needed, `assets/${name}`);
}
