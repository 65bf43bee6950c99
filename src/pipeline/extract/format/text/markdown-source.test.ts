import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertCpuMs } from '../../../../../test/support/measure.ts';
import { readMarkdown } from './markdown-source.ts';

test('imports and components of MDX are removed, their words stay', () => {
  const mdx = "import Tabs from '@theme/Tabs';\n\n<Tabs>Knots {/* hidden */}</Tabs>\n";
  assert.equal(readMarkdown(mdx, { isMdx: true }).trim(), 'Knots');
  assert.match(readMarkdown("import x from 'y';"), /^import x/);
});

test('code keeps what would be a tag, a comment or an anchor elsewhere', () => {
  const code = '~~~~\n<!-- a --> {{< b "c" >}}\n~~~\n## D {#d}\n~~~~\n`{{% e %}} <b>` f';
  assert.equal(readMarkdown(code), code);
});

test('a quoted path in a template tag is dropped, a quoted title is kept', () => {
  const text = 'See {{< ref "guide/knots.md" >}}, {{< card title="Knots" link="/k" >}}.';
  assert.equal(readMarkdown(text), 'See , Knots.');
});

test('a code block may be longer than a call has arguments', () => {
  const code = `\`\`\`\n${'x\n'.repeat(300_000)}\`\`\``;
  assert.equal(readMarkdown(code), code);
});

const million = 1_000_000;
const hostile: Readonly<Record<string, string>> = {
  'comments that nothing ends': '<!-- \n'.repeat(million / 6),
  'comments of MDX that nothing ends': '{/* \n'.repeat(million / 5),
  'comments in one line': '<!-- a -->'.repeat(million / 10),
  'comments in one line, and a backtick': `\`${'<!-- a -->'.repeat(million / 10)}`,
  'template tags that nothing ends': '{{< a "\n'.repeat(million / 8),
  'tags of Liquid that nothing ends': '{% \n'.repeat(million / 4),
  'a highlight of spaces': `{{< highlight${' '.repeat(million)}x`,
  'tables that nothing ends': '<table>\n\n'.repeat(million / 9),
  'short blocks of HTML': '<pre>x</pre>\n'.repeat(million / 13),
  'spans with comments': '`<!-- `` '.repeat(million / 9),
  'a line of backticks': `<${'`'.repeat(million)}`,
  fences: '```\n'.repeat(million / 4),
  'a heading of spaces': `# a${' '.repeat(million)}b`,
  'a heading of spaces before an anchor': `# a${' '.repeat(million)}{#b} c`,
};

for (const [title, text] of Object.entries(hostile)) {
  test(`${title}: read in a time that grows with the length`, () => {
    assertCpuMs(3000, () => void readMarkdown(text), title);
  });
}
