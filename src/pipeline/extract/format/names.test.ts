import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { extensionOf, fileNameOf, languageOfCode } from './names.ts';

const names: readonly (readonly [source: string, name: string, extension: string])[] = [
  ['notes/C#.md', 'C#.md', 'md'],
  ['C:\\notes\\F# and C#.md', 'F# and C#.md', 'md'],
  ['what is it?.txt', 'what is it?.txt', 'txt'],
  ['https://example.org/a/page.html?view=1#top', 'page.html', 'html'],
  ['https://example.org/a/', 'a', 'a'],
  ['https://example.org', 'https://example.org', 'org'],
  ['https://example.org?file=a.pdf', 'https://example.org?file=a.pdf', 'pdf'],
  ['mail/order.eml#attachment/C#.md', 'C#.md', 'md'],
];

describe('the name of a source', () => {
  for (const [source, name, extension] of names) {
    test(`of ${source} is ${name}`, () => {
      assert.equal(fileNameOf(source), name);
      assert.equal(extensionOf(source), extension);
    });
  }

  test('gives the language of code by its extension', () => {
    assert.equal(languageOfCode('src/c#.py'), 'python');
  });
});
