import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../limits/limits.ts';
import type { Metadata } from './metadata.ts';
import { readWhere } from './read-where.ts';
import { matches } from './where.ts';

const runbook: Metadata = { team: 'ops', year: 2025, draft: false, tags: ['red', 'blue'] };

/** The same condition in both forms, and whether the runbook matches. */
const conditions: readonly [string, Readonly<Record<string, unknown>>, boolean][] = [
  ['team = "ops"', { team: 'ops' }, true],
  ["team = 'ops'", { team: { $eq: 'ops' } }, true],
  ['team = "OPS"', { team: 'OPS' }, false],
  ['team != "ops"', { team: { $ne: 'ops' } }, false],
  ['team != "dev"', { team: { $ne: 'dev' } }, true],
  ['owner != "ann"', { owner: { $ne: 'ann' } }, true],
  ['year = 2025', { year: 2025 }, true],
  ['year = "2025"', { year: '2025' }, false],
  ['year >= 2025 and year < 2026', { year: { $gte: 2025, $lt: 2026 } }, true],
  ['year > 2025', { year: { $gt: 2025 } }, false],
  ['year <= 2024.5', { year: { $lte: 2024.5 } }, false],
  ['year > -1e3', { year: { $gt: -1000 } }, true],
  ['team >= "o" and team < "p"', { team: { $gte: 'o', $lt: 'p' } }, true],
  ['draft = false', { draft: false }, true],
  ['draft = TRUE', { draft: true }, false],
  ['tags = "red"', { tags: 'red' }, true],
  ['tags != "red"', { tags: { $ne: 'red' } }, false],
  ['tags in ("green", "blue")', { tags: { $in: ['green', 'blue'] } }, true],
  ['tags IN ["green"]', { tags: { $in: ['green'] } }, false],
  ['team not in ("dev")', { team: { $nin: ['dev'] } }, true],
  ['year in (1, 2025)', { year: { $in: [1, 2025] } }, true],
  ['team exists', { team: { $exists: true } }, true],
  ['owner exists', { owner: { $exists: true } }, false],
  ['owner not exists', { owner: { $exists: false } }, true],
  ['not owner exists', { $not: { owner: { $exists: true } } }, true],
  ['not not team = "ops"', { team: 'ops' }, true],
  ['team = "dev" or year = 2025', { $or: [{ team: 'dev' }, { year: 2025 }] }, true],
  [
    'team = "dev" and year = 2025 or draft = false',
    { $or: [{ team: 'dev', year: 2025 }, { draft: false }] },
    true,
  ],
  [
    'team = "dev" and (year = 2025 or draft = false)',
    { $and: [{ team: 'dev' }, { $or: [{ year: 2025 }, { draft: false }] }] },
    false,
  ],
  ['constructor exists', { constructor: { $exists: true } }, false],
];

describe('a condition on metadata', () => {
  for (const [text, json, expected] of conditions) {
    test(`${text}: ${expected}`, () => {
      assert.equal(matches(readWhere(text), runbook), expected, 'as text');
      assert.equal(matches(readWhere(json), runbook), expected, 'as JSON');
    });
  }

  test('takes quotes and escapes in texts, and reserved words as quoted keys', () => {
    const said: Metadata = { text: 'He said "no"\n', not: 1, 'a-b.c_d': 'x', größe: 3 };
    for (const text of [
      String.raw`text = "He said \"no\"\n"`,
      String.raw`text = 'He said "no"\n'`,
      '`not` = 1',
      'a-b.c_d = "x"',
      'größe >= 3',
    ]) {
      assert.ok(matches(readWhere(text), said), text);
    }
  });

  test('compares texts by code point, as the databases do', () => {
    const [high, astral] = ['\uff5e', '\u{1f600}'];
    assert.ok(high > astral, 'UTF-16 has another order');
    assert.ok(matches({ key: 'a', op: '<', values: [astral] }, { a: high }));
    assert.ok(matches({ key: 'a', op: '>', values: ['ab'] }, { a: 'abc' }));
  });
});

describe('a wrong condition as text is refused with its column', () => {
  const cases: readonly [string, RegExp][] = [
    ['', /ends where a key is expected \(column 1\)/],
    ['team', /the where expression ends where an operator is expected \(column 5\)/],
    ['team = ', /ends where a value is expected \(column 8\)/],
    ['team = ops', /has the text ops without quotes: write "ops" \(column 8\)/],
    ['team == "ops"', /has no operator "=="; the closest one is = \(column 6\)/],
    ['team like "o%"', /has no operator "like"; the closest one is \S+ \(column 6\)/],
    ['team exist', /has no operator "exist"; the closest one is exists \(column 6\)/],
    ['team = "ops', /has a quote " that is not closed \(column 8\)/],
    ['team = "ops" year = 1', /has "year" where "and", "or" or the end is expected \(column 14\)/],
    ['team = "ops" && year = 1', /has "&&" where "and", "or" or the end is expected \(column 14\)/],
    ['(team = "ops"', /ends where "and", "or" or "\)" is expected \(column 14\)/],
    ['team in "ops"', /has "ops" where a list in parentheses is expected \(column 9\)/],
    ['team in ()', /has "\)" where a value is expected \(column 10\)/],
    ['team in ("a" "b")', /has "b" where "," or "\)" is expected \(column 14\)/],
    ['and year = 1', /has "and" where a key is expected \(column 1\)/],
    ['draft > true', /true and false have no order \(column 9\)/],
    ['team = ;', /has an unexpected ";" \(column 8\)/],
    ['"team" = "ops"', /has "team" where a key is expected \(column 1\)/],
    [`${'('.repeat(40)}a = 1${')'.repeat(40)}`, /nested more than 16 deep/],
    [`a in (${Array(201).fill('1').join(',')})`, /201 values; use up to 200/],
    [Array(101).fill('a = 1').join(' and '), /101 conditions; use up to 100/],
    ['a'.repeat(4001), /up to 4000 characters/],
  ];
  for (const [text, reason] of cases) {
    test(text.slice(0, 60) || 'nothing', () => assert.throws(() => readWhere(text), reason));
  }
});

describe('a wrong condition as JSON is refused with its place', () => {
  const deep = Array.from({ length: limits.metadata.whereDepthMax }).reduce<object>(
    (inner) => ({ $not: inner }),
    { a: 1 },
  );
  const cases: readonly [unknown, RegExp][] = [
    [{}, /where is empty/],
    [[], /where must be an object/],
    [{ year: { $gtee: 1 } }, /where\.year\.\$gtee is not an operator; the closest one is \$gte/],
    [{ year: { gte: 1 } }, /where\.year\.gte is not an operator; the closest one is \$gte/],
    [{ $orr: [] }, /where\.\$orr is not an operator; the closest one is \$or/],
    [{ $gte: 1 }, /where\.\$gte belongs to a key/],
    [{ $or: [] }, /where\.\$or must be a list with at least one object/],
    [{ $or: [{ a: 1 }, { b: null }] }, /where\.\$or\[1\]\.b must be a string/],
    [{ a: ['x'] }, /where\.a must be a string.*operators/],
    [{ a: {} }, /where\.a has no operator/],
    [{ a: { $in: 'x' } }, /where\.a\.\$in must be a list/],
    [{ a: { $in: [] } }, /where\.a\.\$in must be a list/],
    [{ a: { $lt: true } }, /where\.a\.\$lt compares numbers or strings/],
    [{ a: { $exists: 1 } }, /where\.a\.\$exists must be true or false/],
    [{ 'a b': 1 }, /where\.a b is not a possible key/],
    [{ a: 'x\0' }, /where\.a must be a string/],
    [{ a: { $in: Array(201).fill(1) } }, /201 values; use up to 200/],
    [deep, /nested more than 16 deep/],
    [{ year: { constructor: 1 } }, /where\.year\.constructor is not an operator/],
    [{ a: 'x'.repeat(70_000) }, /where has more than 65536 characters/],
    [{ ['x'.repeat(70_000)]: 1 }, /where has more than 65536 characters/],
    [{ $and: Array(70_000).fill({ a: 1 }) }, /where has more than 65536 characters/],
    [{ a: { $in: Array(70_000).fill(1) } }, /where has more than 65536 characters/],
    [{ [`$${'x'.repeat(60_000)}`]: 1 }, /^Failure: where\.\$x+…x+ is not an operator; the closest/],
  ];
  for (const [json, reason] of cases) {
    test(JSON.stringify(json).slice(0, 60), () => {
      assert.throws(() => readWhere(json as Record<string, unknown>), reason);
    });
  }
});
