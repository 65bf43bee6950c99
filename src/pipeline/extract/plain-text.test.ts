import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertCpuMs } from '../../../test/support/measure.ts';
import { plainText } from './plain-text.ts';

const samples: readonly [what: string, markdown: string, text: string][] = [
  ['headings', '# One\n\n### Two *words*', 'One\n\nTwo words'],
  ['lists', '- one\n- two\n   - three', 'one\ntwo\nthree'],
  ['numbered lists', '1. one\n2. two', 'one\ntwo'],
  ['a sentence that begins with a number', '12. Oktober war es.', '12. Oktober war es.'],
  ['quotes', '> one\n> > two', 'one\ntwo'],
  ['tables', '| a | b |\n| --- | --- |\n| c \\| d | e |', 'a\tb\nc | d\te'],
  ['code', 'so:\n\n```js\n# not a heading\n- x\n```\n\nend', 'so:\n\n# not a heading\n- x\n\nend'],
  ['longer fences', '````\n```\n````', '```'],
  ['links', 'see [the page](https://a.b/c_d "title") and <https://e.f>.', 'see the page and .'],
  ['images', '![a bear](bear.png) sleeps', 'a bear sleeps'],
  ['emphasis', 'a **bold** and *slanted* `code` ~~gone~~', 'a bold and slanted code gone'],
  [
    'names with underscores',
    'call read_file_now and 2 * 3 * 4',
    'call read_file_now and 2 * 3 * 4',
  ],
  ['escapes', '\\# no heading\n\\> no quote', '# no heading\n> no quote'],
];

for (const [what, markdown, text] of samples) {
  test(`${what} become the visible text`, () => assert.equal(plainText(markdown), text));
}

test('a line of marks takes linear time', () => {
  for (const mark of ['[', '![](', '**', '`', '*a', '<http://', '| ', '> ', '\\', '1. ']) {
    assertCpuMs(3000, () => plainText(mark.repeat(20_000)), mark);
  }
});
