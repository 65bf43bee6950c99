/** Every rule on docs/rules.md names code and a test that exist. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkRules, type ReadFile, readRules } from './support/rules-page.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const inProject: ReadFile = (path) => {
  const isFile = statSync(`${root}${path}`, { throwIfNoEntry: false })?.isFile() ?? false;
  return isFile ? readFileSync(`${root}${path}`, 'utf8') : undefined;
};

test('every rule names code and tests that exist, under a unique id', () => {
  const page = inProject('docs/rules.md') ?? '';
  assert.ok(readRules(page).length > 0, 'docs/rules.md has rules');
  assert.deepEqual(checkRules(page, inProject), []);
});

const files: Readonly<Record<string, string>> = {
  'src/a.ts': 'export function stop(): void {}\n#begin() {}\n',
  'src/a.test.ts': "test('stops at once', () => {});\ntest(`stops ${it} | now`, () => {});\n",
  'docs/decisions/0001-stop.md': '# 1. Stop',
};
const place = '`src/a.ts` (`stop`)';
const proof = '`src/a.test.ts`: "stops at once"';

/** A row, and what is wrong with it: null if nothing is. */
const rows: readonly [title: string, row: string, found: RegExp | null][] = [
  ['a whole row', `| job-1 | It stops. | ${place} | ${proof} |`, null],
  ['a decision', `| job-1 | [0001](decisions/0001-stop.md) | ${place} | ${proof} |`, null],
  ['two places', `| job-1 | It stops. | ${place}, \`src/a.ts\` | ${proof} |`, null],
  ['a private method', `| job-1 | It stops. | \`src/a.ts\` (\`#begin\`) | ${proof} |`, null],
  [
    'a title made of a template',
    `| job-1 | It stops. | ${place} | \`src/a.test.ts\`: "stops \${it} \\| now" |`,
    null,
  ],
  ['no rule', `| job-1 |  | ${place} | ${proof} |`, /has no rule/],
  ['an invalid id', `| Job 1 | It stops. | ${place} | ${proof} |`, /is not an id/],
  ['no code', `| job-1 | It stops. |  | ${proof} |`, /names no place in the code/],
  ['no file', `| job-1 | It stops. | \`src/b.ts\` | ${proof} |`, /src\/b\.ts, which does not/],
  [
    'no symbol',
    `| job-1 | It stops. | \`src/a.ts\` (\`sto\`) | ${proof} |`,
    /sto, which is not in/,
  ],
  ['no test', `| job-1 | It stops. | ${place} |  |`, /has no test/],
  ['no title', `| job-1 | It stops. | ${place} | \`src/a.test.ts\`: "stops" |`, /"stops", which/],
  [
    'no such test file',
    `| job-1 | It. | ${place} | \`src/b.test.ts\`: "x" |`,
    /which does not exist/,
  ],
  ['code as its test', `| job-1 | It. | ${place} | \`src/a.ts\`: "x" |`, /is not a test file/],
  [
    'no decision',
    `| job-1 | [2](decisions/0002.md) | ${place} | ${proof} |`,
    /links to .*0002\.md/,
  ],
  ['a cell too few', `| job-1 | ${place} | ${proof} |`, /does not have four cells/],
  ['an unreadable cell', `| job-1 | It stops. | src/a.ts | ${proof} |`, /cannot be read/],
];

describe('a page of rules', () => {
  const read: ReadFile = (path) => files[path];
  const found = (page: string): string[] => {
    try {
      return checkRules(page, read);
    } catch (error) {
      return [String(error)];
    }
  };

  for (const [title, row, expected] of rows) {
    test(`with ${title} is ${expected ? 'refused' : 'accepted'}`, () => {
      const sentences = found(`| id | rule | code | test |\n| --- | --- | --- | --- |\n${row}\n`);
      if (expected === null) assert.deepEqual(sentences, []);
      else assert.match(sentences.join('\n'), expected);
    });
  }

  test('with a duplicate id is refused', () => {
    const row = `| job-1 | It stops. | ${place} | ${proof} |\n`;
    assert.deepEqual(found(row), []);
    assert.match(found(row + row).join(), /job-1 is used twice/);
  });
});
