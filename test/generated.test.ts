/** The pages of docs/generated/ match the code. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generatedPages } from '../scripts/generated-pages.ts';

const folder = fileURLToPath(new URL('../docs/generated/', import.meta.url));
const pages = generatedPages();

describe('docs/generated', () => {
  for (const [name, text] of Object.entries(pages)) {
    test(`${name} matches the code`, () => {
      const stored = readFileSync(`${folder}${name}`, 'utf8');
      assert.equal(stored, text, `docs/generated/${name} is out of date: run \`npm run generate\``);
    });
  }

  test('holds nothing else', () => {
    const others = readdirSync(folder).filter((name) => !Object.hasOwn(pages, name));
    assert.deepEqual(others, [], 'remove it, or add it to scripts/generated-pages.ts');
  });
});
