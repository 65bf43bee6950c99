/** The tour leads through ten files that exist, each named once. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stops = [
  ...readFileSync(join(root, 'docs/tour.md'), 'utf8').matchAll(
    /^(\d+)\. \[`([^`]+)`\]\(\.\.\/([^)]+)\): \S/gm,
  ),
].map(([, place = '', path = '', link = '']) => ({ place: Number(place), path, link }));

test('the tour has ten files, numbered in order', () => {
  assert.deepEqual(
    stops.map(({ place }) => place),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
});

test('every file of the tour exists, and its link leads to it', () => {
  for (const { path, link } of stops) {
    assert.equal(link, path);
    assert.ok(existsSync(join(root, path)), `${path} does not exist: change docs/tour.md`);
  }
});

test('every file of the tour is named once', () => {
  assert.equal(new Set(stops.map(({ path }) => path)).size, stops.length);
});
