/** The table of docs/verified.md: a row is replaced by a later result of the same suite. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Row {
  readonly name: string;
  readonly version: string;
  readonly suite: string;
  readonly passed: number;
  readonly failed: number;
  readonly note?: string | undefined;
}

const page = fileURLToPath(new URL('../../docs/verified.md', import.meta.url));
const header = '| server or tester | version | suite | result | commit, date |';
const begin = `${header}\n| --- | --- | --- | --- | --- |\n`;

export function writeRows(rows: readonly Row[], commit: string): void {
  const text = readFileSync(page, 'utf8');
  const start = text.indexOf(begin);
  if (start < 0) throw new Error('docs/verified.md has no table of servers');
  const from = start + begin.length;
  const end = text.indexOf('\n\n', from - 1);
  const kept = new Map<string, string>();
  for (const line of text.slice(from, end).split('\n').filter(Boolean)) {
    const [name = '', , suite = ''] = line.slice(2).split(' | ');
    kept.set(`${name} ${suite}`, line);
  }
  const today = new Date().toISOString().slice(0, 10);
  for (const { name, version, suite, passed, failed, note } of rows) {
    const result = `${passed} passed, ${failed} failed${note === undefined ? '' : ` (${note})`}`;
    kept.set(
      `${name} ${suite}`,
      `| ${name} | ${version} | ${suite} | ${result} | ${commit}, ${today} |`,
    );
  }
  writeFileSync(page, `${text.slice(0, from)}${[...kept.values()].join('\n')}${text.slice(end)}`);
}
