import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { LiteParse } from '@llamaindex/liteparse';
import { parse } from '../parse.ts';
import { countWords } from '../word-count.ts';

const samples = join(import.meta.dirname, '../../../../../test/samples/format');
const never = new AbortController().signal;

/** Words that are dropped on purpose, by sample. */
const leftOut: Readonly<Record<string, string>> = {
  // The header of its pages.
  'repeated-lines.pdf': [1, 2, 3, 4].map((page) => `harbour rules page ${page}`).join(' '),
  // The header of a table, which its part on the next page repeats.
  'table-over-pages.pdf': 'ship flag arrival cargo in tons',
};

/** Samples whose words the library tears apart in `page.text`: their letters are compared. */
const torn = new Set(['turned.pdf']);

describe('every word of a page is in its Markdown, as often as on the page', () => {
  for (const name of globSync('*.pdf', { cwd: samples }).sort()) {
    test(name, async (t) => {
      const bytes = readFileSync(join(samples, name));
      const library = new LiteParse({ quiet: true, ocrEnabled: false, numWorkers: 1 });
      const { pages } = await library.parse(bytes);
      const text = pages.map((page) => page.text).join('\n');
      if (text.trim() === '') return t.skip('its text is in pictures');
      const input = { bytes, mediaType: 'application/pdf', source: name };
      const { markdown } = await parse(input, never);
      const units = (all: string) => countWords(torn.has(name) ? [...all].join(' ') : all);
      const found = units(`${markdown} ${leftOut[name] ?? ''}`);
      for (const [word, count] of units(text)) {
        const kept = found.get(word) ?? 0;
        assert.ok(kept >= count, `"${word}" is there ${kept} times, on the pages ${count} times`);
      }
    });
  }
});
