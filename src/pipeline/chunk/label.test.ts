import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitText } from './split.ts';

const around = (title: string) =>
  `# Guide\n\n#### Install\n\nRun it.\n\n${title}\n\nIt takes long.\n\nThen start it.`;

function pathsOf(text: string): string[] {
  return splitText(text).map(({ heading }) => heading);
}

for (const title of ['### Note', '## **Warning:** old', '### Hinweis', '## 注意', '###### Any']) {
  test(`the title of a box is not in the path of what follows: ${title}`, () => {
    assert.deepEqual(pathsOf(around(title)), ['Guide > Install']);
    assert.ok(splitText(around(title))[0]?.text.includes(`${title}\n\nIt takes long.`));
  });
}

for (const title of ['### Notes', '### Note taking', '### Tipping', '##### Any']) {
  test(`a heading that only looks like a box title stays a heading: ${title}`, () => {
    assert.equal(pathsOf(around(title)).at(-1)?.split(' > ').at(-1), title.replace(/^#+ /, ''));
  });
}

test('a document may have the title of a box', () => {
  assert.deepEqual(pathsOf('# Warning\n\nText.'), ['Warning']);
});

test('the title of a box directly below a heading stays with the text of the box', () => {
  const long = 'Some words. '.repeat(80).trim();
  const [first] = splitText(`# Guide\n\n### Note\n\n${long}`);
  assert.match(first?.text ?? '', /^# Guide\n\n### Note\n\nSome words\./);
});
