import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writePdf } from '../../../../../test/support/pdf-writer.ts';
import { parse } from '../parse.ts';
import { mayBeSideBySide } from './fragments.ts';

const never = new AbortController().signal;

async function markdownOf(...pages: readonly string[][]): Promise<string> {
  const bytes = writePdf(pages.map((content) => content.join('\n')));
  const input = { bytes, mediaType: 'application/pdf', source: 'a.pdf' };
  return (await parse(input, never)).markdown;
}

function at(x: number, y: number, text: string): string {
  return `BT /F1 10 Tf 1 0 0 1 ${x} ${y} Tm (${text}) Tj ET`;
}

function row(y: number, cells: readonly string[], left = [72, 200, 320]): string[] {
  return cells.flatMap((text, column) => (text === '' ? [] : [at(left[column] ?? 0, y, text)]));
}

function rules(xs: readonly number[], ys: readonly number[]): string[] {
  const [left, right, top, bottom] = [xs[0], xs.at(-1), ys[0], ys.at(-1)];
  return [
    ...ys.map((y) => `${left} ${y} m ${right} ${y} l S`),
    ...xs.map((x) => `${x} ${top} m ${x} ${bottom} l S`),
  ];
}

const days = ['Monday', 'Tuesday', 'Friday', 'Sunday'];

test('two columns of prose stay text', async () => {
  const words = 'the harbour has a quay for each of the ships that call here every day'.split(' ');
  const line = (at: number) =>
    Array.from({ length: 8 }, (_, word) => words[(at * 7 + word * 3) % words.length]).join(' ');
  const lines = Array.from({ length: 12 }, (_, index) => [
    at(72, 700 - 13 * index, line(index)),
    at(320, 700 - 13 * index, line(index + 5)),
  ]);
  assert.doesNotMatch(await markdownOf(lines.flat()), /\|/);
});

test('numbered items are not rows of a table', async () => {
  const lines = days.map((day, index) => row(700 - 20 * index, [`${index + 1}.`, `${day} is 1`]));
  assert.doesNotMatch(await markdownOf(lines.flat()), /\|/);
});

test('a heading next to its column is part of it', async () => {
  const head = [at(100, 700, 'Day'), at(240, 700, 'High'), at(360, 700, 'Low')];
  const rows = days.map((day, index) =>
    row(680 - 20 * index, [day.slice(0, 3), `${index}.5`, `${index}.1`]),
  );
  const markdown = await markdownOf([...head, ...rows.flat()]);
  assert.match(markdown, /^\| Day \| High \| Low \|\n/);
  assert.match(markdown, /\| Tue \| 1\.5 \| 1\.1 \|/);
});

test('a table of contents has its page numbers next to its headings', async () => {
  const lines = days.map((day, index) => row(700 - 15 * index, [day, '', `${10 + index}`]));
  const markdown = await markdownOf(lines.flat());
  assert.match(markdown, /\| Tuesday \| 11 \|/);
});

test('a line without a first cell or figures continues the row above it', async () => {
  const lines = [
    ...row(700, ['Berth', 'Length', 'Remark']),
    ...row(686, ['North', '120', 'ferries have the']),
    ...row(672, ['', '', 'right of way']),
    ...row(658, ['South', '80', 'none']),
    ...row(644, ['Mole', '45', 'none']),
  ];
  const markdown = await markdownOf(lines);
  assert.match(markdown, /\| North \| 120 \| ferries have the right of way \|\n\| South/);
});

test('words of a cell stay separate, however narrow the space between them', async () => {
  const lines = days.map((day, index) =>
    row(700 - 20 * index, [`${day} noon`, `${index}.5`, `${index}.1`]),
  );
  const markdown = await markdownOf(['-2.5 Tw', ...lines.flat()]);
  assert.match(markdown, /\| Tuesday noon \| 1\.5 \|/);
});

test('rotated words in the header of a ruled table are in their cells', async () => {
  const turned = (x: number, text: string) => `BT /F1 10 Tf 0 1 -1 0 ${x} 655 Tm (${text}) Tj ET`;
  const body = ['Pilot', 'Water'].flatMap((name, index) =>
    row(635 - 20 * index, [name, 'x', 'y'], [76, 205, 265]),
  );
  const lines = rules([72, 190, 250, 310], [700, 650, 630, 610]);
  const markdown = await markdownOf([
    ...lines,
    ...row(670, ['Service'], [76]),
    turned(215, 'Night'),
    turned(275, 'Day'),
    ...body,
  ]);
  assert.match(
    markdown,
    /\| Service \| Night \| Day \|\n\| --- \| --- \| --- \|\n\| Pilot \| x \| y \|/,
  );
});

test('rules around header and body only leave rows to the lines of text', async () => {
  const rows = days.map((day, index) => row(680 - 18 * index, [day, `${index}.5`, `${index}.1`]));
  const markdown = await markdownOf([
    ...rules([66, 190, 310, 420], [715, 695, 615]),
    ...row(700, ['Day', 'High', 'Low']),
    ...rows.flat(),
  ]);
  assert.match(markdown, /\| Monday \| 0\.5 \| 0\.1 \|\n\| Tuesday \| 1\.5 \| 1\.1 \|/);
});

test('a grid without text, such as a chart, is not a table', async () => {
  const xs = Array.from({ length: 9 }, (_, index) => 72 + 40 * index);
  const lines = [
    ...rules(
      xs,
      xs.map((x) => 720 - x),
    ),
    at(80, 640, 'Tides'),
    at(72, 100, 'Monday'),
  ];
  assert.doesNotMatch(await markdownOf(lines), /\|/);
});

test('a table that continues without a header on the next page is one table', async () => {
  const part = (from: number, top: number) =>
    days.flatMap((day, index) => row(top - 18 * index, [day, `${from + index}.5`, `${index}.1`]));
  const markdown = await markdownOf(
    [...row(700, ['Day', 'High', 'Low']), ...part(0, 682)],
    part(4, 740),
    part(8, 740),
  );
  assert.equal(markdown.split('\n').length, 2 + 3 * days.length);
  assert.match(markdown, /\| Sunday \| 3\.5 \| 3\.1 \|\n\| Monday \| 4\.5 \| 0\.1 \|/);
});

test('a page may have a table if words of one item are apart', () => {
  const line = (y: number, second: number) => {
    const wordAt = (text: string, x: number) => ({ text, x, y, width: 30, height: 10 });
    const words = [wordAt('high', 72), wordAt('tide', second)];
    return { text: 'high tide', x: 72, y, width: second - 42, height: 10, words };
  };
  const pageOf = (second: number) => ({
    pageNum: 1,
    width: 600,
    height: 800,
    text: '',
    markdown: '',
    textItems: [100, 120, 140].map((y) => line(y, second)),
  });
  assert.equal(mayBeSideBySide(pageOf(105), 3), false);
  assert.equal(mayBeSideBySide(pageOf(200), 3), true);
  assert.equal(mayBeSideBySide(pageOf(200), 4), false);
});
