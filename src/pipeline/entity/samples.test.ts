/** Each sample has a file of its expected entities, one per line. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readLexicon } from './lexicon.ts';
import { extractEntities } from './local-extractor.ts';

const folder = fileURLToPath(new URL('../../../test/samples/entity/', import.meta.url));
const lexicon = await readLexicon();

for (const name of globSync('*.md', { cwd: folder }).sort()) {
  test(`${name} has the entities of the list next to it`, () => {
    const text = readFileSync(`${folder}${name}`, 'utf8');
    const lines = extractEntities(text, lexicon).entities.map(({ kind, ...entity }) => {
      const also = entity.aliases.length > 0 ? ` = ${entity.aliases.join(' = ')}` : '';
      return `${kind}: ${entity.name}${also} (${entity.mentions.length})`;
    });
    const expected = readFileSync(`${folder}${name.replace(/md$/, 'txt')}`, 'utf8');
    assert.deepEqual(lines.sort(), expected.trim().split('\n'));
  });
}
