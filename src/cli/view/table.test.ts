import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { printTable } from './table.ts';
import type { Terminal } from './terminal.ts';
import { widthOf } from './wording.ts';

const titles = ['JOB', 'SOURCE', '>DONE', 'STATE', 'SUBMITTED'];
const rows = [
  ['3f2a9c1e', 'https://example.com/handbook/refunds/late-delivery', '12', 'running', '3 min ago'],
  ['77b0aa12', 'docs/a.md', '1,203', 'succeeded', 'just now'],
];

function printed(columns: number, isShown = true): string[] {
  const lines: string[] = [];
  const terminal = {
    isShown,
    columns: () => columns,
    print: (line = '') => void lines.push(line),
    paint: (_style: unknown, text: string) => text,
  } as unknown as Terminal;
  printTable(terminal, titles, rows);
  return lines;
}

describe('a table', () => {
  test('has every text in full where there is space, and where nobody looks', () => {
    const wide = printed(200);
    assert.equal(wide.length, 3);
    assert.match(wide[1] ?? '', /^3f2a9c1e {2}https:\S+late-delivery {5}12 {2}running/);
    assert.deepEqual(printed(40, false), wide);
  });

  test('cuts long texts on a narrower terminal', () => {
    const lines = printed(72);
    assert.equal(lines.length, 3);
    assert.match(lines[1] ?? '', /https:\/\/example\.com\S*… {5}12 {2}running {4}3 min ago$/);
    for (const line of lines) assert.ok(widthOf(line) <= 72, line);
  });

  test('becomes blocks at 40 columns', () => {
    const lines = printed(40);
    assert.deepEqual(lines.slice(0, 1), ['job        3f2a9c1e']);
    assert.ok(lines.includes('state      succeeded'));
    assert.ok(lines.includes(''));
  });
});
