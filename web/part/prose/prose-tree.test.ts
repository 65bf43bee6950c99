import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { excerptOf } from './excerpt.ts';
import { isElement, type ProseNode, proseOf, safeAddress } from './prose-tree.ts';

/** The tree as text: elements as tags, marked words in brackets. */
function written(nodes: readonly ProseNode[]): string {
  return nodes
    .map((node) => {
      if (!isElement(node)) return node.mark === undefined ? node.text : `[${node.text}]`;
      const href = node.href === undefined ? '' : ` ${node.href}`;
      return `<${node.name}${href}>${written(node.children)}</>`;
    })
    .join('');
}

function rangesOf(source: string, word: string) {
  return [...source.matchAll(new RegExp(word, 'g'))].map(({ index }) => ({
    start: index,
    end: index + word.length,
  }));
}

const shown = (source: string, word = 'heron'): string =>
  written(proseOf(source, word === '' ? [] : rangesOf(source, word)));

describe('Markdown', () => {
  const cases: readonly (readonly [title: string, source: string, expected: string])[] = [
    ['marks words in a paragraph', 'A heron, a heron.', '<p>A [heron], a [heron].</>'],
    [
      'marks across emphasis',
      'a *grey heron* **heron**',
      '<p>a <em>grey [heron]</> <strong>[heron]</></>',
    ],
    [
      'keeps the lines of code, and marks in them',
      '```shell\nkubectl drain heron \\\n  --force\n```',
      '<pre>kubectl drain [heron] \\\n  --force</>',
    ],
    ['marks inline code', 'Use `` a`heron `` now', '<p>Use <code>a`[heron]</> now</>'],
    ['marks indented code', '    first\n    heron\n', '<pre>first\n[heron]</>'],
    [
      'keeps tables, and marks in cells',
      '| a | b |\n| --- | ---: |\n| heron | 2 |',
      '<table><tr><th>a</><th>b</></><tr><td>[heron]</><td>2</></></>',
    ],
    [
      'finds its place after references and escapes',
      'a &amp; b \\* c heron',
      '<p>a & b * c [heron]</>',
    ],
    [
      'finds its place after a prefix of a quote',
      '> one\n> heron',
      '<blockquote><p>one\n[heron]</></>',
    ],
    [
      'finds its place after a line that is joined with the next',
      `${'Words up to the end of a line that is broken '}there,\nthe next, and a heron`,
      `<p>${'Words up to the end of a line that is broken '}there, the next, and a [heron]</>`,
    ],
    [
      'shows HTML as text',
      '<img src=x onerror=a()> heron',
      '<p><img src=x onerror=a()> [heron]</>',
    ],
    ['shows a block of HTML as text', '<div>\nheron\n</div>', '<div>\n[heron]\n</div>'],
    [
      'shows an image as its description',
      '![a bird](https://a.example/x.png)',
      '<p><image>a bird</></>',
    ],
    [
      'keeps links to pages',
      '[the heron](https://a.example/b)',
      '<p><a https://a.example/b>the [heron]</></>',
    ],
    ['drops addresses that run', '[heron](javascript:alert(1))', '<p>[heron]</>'],
    ['drops relative addresses', '[heron](../b.md)', '<p>[heron]</>'],
    ['keeps lists', '3. a\n4. heron', '<ol><li><p>a</></><li><p>[heron]</></></>'],
    [
      'joins lines that were broken to fit a page',
      `${'A line that is longer than forty-five characters,'}\nheron`,
      '<p>A line that is longer than forty-five characters, [heron]</>',
    ],
    [
      'joins a broken line whose end is a text of its own',
      'A line with `code`, and it is longer than forty-five\nheron',
      '<p>A line with <code>code</>, and it is longer than forty-five [heron]</>',
    ],
    [
      'keeps the lines of an address',
      'Heron Inc.\nReed Road 3\nheron',
      '<p>Heron Inc.\nReed Road 3\n[heron]</>',
    ],
  ];
  for (const [title, source, expected] of cases) {
    test(title, () => assert.equal(shown(source), expected));
  }

  test('that is nested without end is shown as it is written', () => {
    for (const prefix of [
      '> '.repeat(3000),
      '>'.repeat(5000),
      '- '.repeat(2000),
      '['.repeat(5000),
    ]) {
      assert.match(shown(`${prefix}heron`), /\[heron\]/);
    }
  });

  test('links only lead to web pages and mail addresses', () => {
    assert.equal(safeAddress('https://a.example/?q=1'), 'https://a.example/?q=1');
    assert.equal(safeAddress('mailto:ann@a.example'), 'mailto:ann@a.example');
    for (const address of [
      'javascript:x',
      ' JavaScript:x',
      'data:text/html,x',
      '/x',
      'x',
      'file:///x',
    ]) {
      assert.equal(safeAddress(address), undefined, address);
    }
  });
});

describe('an excerpt', () => {
  const filler = (length: number): string => 'reeds '.repeat(length / 6);

  test('has the part with the most marked words, and whole words', () => {
    const reeds = filler(600);
    const source = `${reeds}a heron here. ${reeds}two heron and heron there. ${reeds}`;
    const text = written(excerptOf(proseOf(source, rangesOf(source, 'heron')), 200));
    assert.match(text, /^<p>… .*\[heron\] and \[heron\] there\..* …<\/>$/);
    assert.ok(text.length < 260, text);
    assert.doesNotMatch(text, /\b(?:r|re|ree|reed|eeds|eds|ds|s)\b/);
  });

  test('of a table has its header and whole rows', () => {
    const rows = Array.from({ length: 40 }, (_, row) => `| bird ${row} | ${row} |`);
    const source = ['| name | count |', '| --- | --- |', ...rows].join('\n');
    const text = written(excerptOf(proseOf(source, rangesOf(source, 'bird 30')), 60));
    assert.match(text, /^<table><tr><th>name<\/><th>count<\/><\/>/);
    assert.match(text, /<tr><td>\[bird 30\]<\/><td>30<\/><\/>/);
    assert.doesNotMatch(text, /bird 2 /);
  });

  test('of code has whole lines', () => {
    const lines = Array.from({ length: 40 }, (_, line) => `line ${line} of the code;`);
    const source = `\`\`\`\n${lines.join('\n')}\n\`\`\``;
    const text = written(excerptOf(proseOf(source, rangesOf(source, 'line 30')), 100));
    assert.match(text, /\n\[line 30\] of the code;\n/);
    assert.match(text, /^<pre>line \d+ of the code;\n/);
  });

  test('of a short text is all of it', () => {
    assert.equal(written(excerptOf(proseOf('A heron.'), 100)), '<p>A heron.</>');
  });
});
