import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertCpuMs } from '../../../../../test/support/measure.ts';
import { flatten } from './flat.ts';

const textOf = (html: string): string => flatten(html).text.trim();

/** Input, and expected output. */
const samples: readonly (readonly [what: string, html: string, text: string])[] = [
  ['paragraphs are apart', '<p>One</p><p>Two</p>', 'One\n\nTwo'],
  ['headings keep their level', '<h1>A</h1><h3>B</h3>', '# A\n\n### B'],
  ['list items are a list', '<ul><li>a</li><li>b</li></ul>', '- a\n- b'],
  ['blanks are one blank', '<p>a  \n\t b</p>', 'a b'],
  ['inline tags leave words whole', '<p>wal<b>rus</b></p>', 'walrus'],
  ['cells are apart', '<table><tr><td>a</td><td>b</td></tr></table>', 'a b'],
  ['entities are decoded', '<p>&lt;a&gt; &amp; &quot;&#65;&#x42;&nbsp;&mdash;</p>', '<a> & "AB —'],
  [
    'what is no entity stays',
    '<p>&unknown; &#0; &#x110000; AT&T</p>',
    '&unknown; &#0; &#x110000; AT&T',
  ],
  ['an entity is decoded once', '<p>&amp;lt;</p>', '&lt;'],
  ['scripts and styles are skipped', '<script>x</script><style>y</style><p>a</p>', 'a'],
  ['navigation is skipped', '<nav><a>Home</a></nav><p>a</p>', 'a'],
  ['comments are skipped', '<p>a<!-- <p>no</p> -->b</p>', 'ab'],
  ['an open comment ends the text', '<p>a</p><!-- b', 'a'],
  ['a lone bracket is text', '<p>1 < 2</p>', '1 < 2'],
  ['tags may be in capitals', '<P>One</P><SCRIPT>x</SCRIPT><P>Two</P>', 'One\n\nTwo'],
  ['attributes may hold brackets', '<p title="a > b">One</p>', 'One'],
  ['a comparison in a script does not swallow its end', '<script>a<b</script><p>a</p>', 'a'],
  [
    'quotes in a script do not swallow its end',
    `<script>if(i<n)x="it's"</script><p>a</p><p>it's</p>`,
    "a\n\nit's",
  ],
];

describe('HTML as Markdown', () => {
  for (const [what, html, text] of samples) {
    test(what, () => assert.equal(textOf(html), text));
  }

  test('the title is read, decoded and trimmed', () => {
    const html = '<html><head><title lang="en"> A &amp;\n B </title></head><p>x</p>';
    assert.deepEqual(flatten(html).title, 'A & B');
    assert.equal(flatten('<title></title>').title, undefined);
    assert.equal(flatten('<p>x</p>').title, undefined);
  });

  test('an unclosed tag loses no text before it', () => {
    assert.match(textOf('<p>One</p><p'), /^One/);
  });

  test('a lone surrogate is removed', () => {
    assert.ok(textOf('<p>a&#xD800;b</p>').isWellFormed());
  });
});

describe('reading HTML takes time in proportion to its length', () => {
  const hostile: Readonly<Record<string, string>> = {
    'a hundred thousand nested tags': `${'<div>'.repeat(100_000)}x${'</div>'.repeat(100_000)}`,
    'a hundred thousand unclosed tags': '<p>x'.repeat(100_000),
    'tags that never end': '<a '.repeat(10_000),
    'tags with quotes that never end': '<a "'.repeat(10_000),
    'a tag name without end': `<${'a'.repeat(15_000)}`,
    'cells without words': '<td>'.repeat(60_000),
    'titles that never end': '<title '.repeat(4000),
    'comments that never end': '<!--'.repeat(100_000),
    'brackets alone': '<'.repeat(100_000),
    ampersands: '&a'.repeat(100_000),
  };
  for (const [what, html] of Object.entries(hostile)) {
    test(what, () => {
      assertCpuMs(200 + html.length / 1000, () => flatten(html));
    });
  }
});
