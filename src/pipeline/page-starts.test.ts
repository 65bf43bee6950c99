import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitText } from './chunk/split.ts';
import type { Parsed } from './extract/parsed.ts';
import { joinPages, pageStartsOf, withPages } from './page-starts.ts';

const pages = [
  { page: 1, text: '# One\n\nFirst.' },
  { page: 2, text: '' },
  { page: 3, text: '# Three\n\nThird.\n\n# Four\n\nFourth.' },
  { page: 4, text: 'The end.' },
];

test('each chunk has the page on which it begins', () => {
  const chunks = splitText(joinPages(pages));
  const found = withPages(chunks, { page_starts: pageStartsOf(pages) });
  assert.deepEqual(
    found.map(({ heading, page }) => [heading, page]),
    [
      ['One', 1],
      ['Three', 3],
      ['Four', 3],
    ],
  );
});

test('chunks of a document without valid page starts have none', () => {
  const chunks = splitText(joinPages(pages));
  const metas: Parsed['meta'][] = [{}, { page_starts: 7 }, { page_starts: 'on all pages' }];
  for (const meta of [null, ...metas]) {
    assert.deepEqual(withPages(chunks, meta), chunks);
  }
});
