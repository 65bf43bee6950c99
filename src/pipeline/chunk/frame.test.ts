import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chunkSlicesOf, splitText } from './split.ts';
import { countText } from './token/tokens.ts';

const bounds = { tokensMax: 60, overlapTokens: 10 };
const header = '| name | price |\n| --- | --- |';
const rows = Array.from({ length: 40 }, (_, n) => `| part ${n} | ${n} euro |`);
const table = `${header}\n${rows.join('\n')}`;
const lines = Array.from({ length: 60 }, (_, n) => `  call(${n});`);

function chunksOf(text: string): string[] {
  const chunks = splitText(text, bounds);
  for (const chunk of chunks) {
    assert.equal(chunk.tokenCount, countText(chunk.text));
    assert.ok(chunk.tokenCount <= bounds.tokensMax, `${chunk.tokenCount} tokens`);
  }
  return chunks.map((chunk) => chunk.text);
}

describe('chunks of a long table', () => {
  test('each begin with its header', () => {
    const chunks = chunksOf(table);
    assert.ok(chunks.length > 3);
    for (const chunk of chunks) assert.ok(chunk.startsWith(`${header}\n| part`), chunk);
    const parts = chunks.map((chunk) => chunk.slice(header.length + 1));
    assert.equal(parts.join('\n'), rows.join('\n'));
  });

  test('have it after text, below a heading and without outer bars', () => {
    for (const before of [
      '# Prices',
      ...Array.from({ length: 20 }, (_, n) => 'Do so. '.repeat(n)),
    ]) {
      for (const chunk of chunksOf(`${before}\n\n${table}`)) {
        assert.equal(chunk.includes(header), chunk.includes(`${header}\n| part`), chunk);
        assert.equal(chunk.includes('| part'), chunk.includes(header), chunk);
      }
    }
    const bare = `name | price\n--- | ---\n${rows.map((row) => row.slice(2, -2)).join('\n')}`;
    for (const chunk of chunksOf(bare)) assert.ok(chunk.startsWith('name | price\n--- | ---\n'));
  });

  test('have it above a part of a row that exceeds a chunk', () => {
    for (const count of [22, 24, 26, 100]) {
      const long = `| long | ${'many words '.repeat(count)}|`;
      const chunks = chunksOf(`${header}\n${rows[0]}\n${long}\n${rows.join('\n')}`);
      for (const chunk of chunks) assert.ok(chunk.startsWith(`${header}\n`), chunk);
    }
  });

  test('point with their offsets to the rows, not to the header', () => {
    const [, second] = chunkSlicesOf(table, bounds);
    assert.equal(second?.opening, `${header}\n`);
    assert.match(table.slice(second?.startOffset, second?.endOffset), /^\| part/);
  });

  test('have a short form of a header that takes more than a third of a chunk', () => {
    const names = '| the name of the part \\| product | what it costs without any taxes |';
    for (const chunk of chunksOf(`${names}\n| --- | --- |\n${rows.join('\n')}`).slice(1)) {
      assert.match(chunk, /^\|the name of the…\|what it costs w…\|\n\|--\|--\|\n\| part/);
    }
  });

  test('omit a header of very many columns', () => {
    const wide = `${'| name '.repeat(30)}|\n${'| --- '.repeat(30)}|\n${rows.join('\n')}`;
    assert.match(chunksOf(wide).at(-1) ?? '', /^\| part/);
    assert.ok(chunkSlicesOf(wide, bounds).every(({ opening }) => opening === ''));
  });

  test('have no header where the table has none', () => {
    assert.equal(chunksOf(rows.join('\n')).join('\n'), rows.join('\n'));
  });
});

describe('chunks of long code', () => {
  for (const [title, open, close] of [
    ['', '```js', '```'],
    [' with more after the language', '~~~~js title="call.js"', '~~~~'],
    [' in a list', '    ```js', '    ```'],
  ] as const) {
    test(`each open and close its fence${title}`, () => {
      const before = open.startsWith(' ') ? '- First:\n\n' : '';
      const chunks = chunksOf(`${before}${open}\n${lines.join('\n')}\n${close}\n\nThe end.`);
      assert.ok(chunks.length > 3);
      const fence = open.split(' title')[0] ?? '';
      for (const [index, chunk] of chunks.entries()) {
        const code = chunk.replace('\n\nThe end.', '').replace(before, '');
        assert.ok(code.startsWith(`${index === 0 ? open : fence}\n  call(`), chunk);
        assert.ok(code.endsWith(`);\n${close}`), chunk);
      }
      const found = chunks
        .join('\n')
        .split('\n')
        .filter((line) => line.includes('call('));
      assert.deepEqual(
        found.filter((line) => !line.includes(open)),
        lines,
      );
    });
  }

  test('end with the list that contains the code, if the fence is never closed', () => {
    const text = `- First:\n\n    \`\`\`sh\n    run\n\n# Next\n\nText.`;
    assert.deepEqual(
      splitText(text).map(({ heading }) => heading),
      ['', 'Next'],
    );
  });

  test('do not end at an indented fence inside the code', () => {
    const text = '```md\n- a:\n\n      ```\n# no heading\n```';
    assert.deepEqual(
      splitText(text).map(({ heading }) => heading),
      [''],
    );
  });

  test('do not become the overlap of the text after it', () => {
    const code = `\`\`\`js\n${'a();\n'.repeat(15)}\`\`\``;
    const [first, second] = chunksOf(`${code}\n\nThis is${' a very'.repeat(15)} long sentence.`);
    assert.equal(first, code);
    assert.match(second ?? '', /^This is/);
  });
});
