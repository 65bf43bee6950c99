import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain, isToBeRead, type Known, type Plan, planFor } from './plan.ts';

const unknown: Known = {
  source: 'upload:a.txt',
  sameBytes: [],
  isInCorpus: false,
  sameInBatch: undefined,
};

const cases: readonly [title: string, known: Partial<Known>, plan: Plan['do'], why?: string][] = [
  ['what nobody has seen is added', {}, 'add'],
  ['what has changed replaces what the corpus has of it', { isInCorpus: true }, 'replace'],
  [
    'what has not changed is skipped',
    { isInCorpus: true, sameBytes: ['upload:a.txt'] },
    'skip',
    'unchanged',
  ],
  [
    'what the corpus has under another name is skipped',
    { sameBytes: ['upload:b.txt'] },
    'skip',
    'in_corpus',
  ],
  [
    'what has changed into a copy of another document still replaces what it was',
    { isInCorpus: true, sameBytes: ['upload:b.txt'] },
    'replace',
  ],
  ['what is staged twice is read once', { sameInBatch: 'b.txt' }, 'skip', 'in_batch'],
  [
    'what is staged twice and has not changed says the latter',
    { sameInBatch: 'b.txt', isInCorpus: true, sameBytes: ['upload:a.txt'] },
    'skip',
    'unchanged',
  ],
];

for (const [title, known, expected, why] of cases) {
  test(title, () => {
    const plan = planFor({ ...unknown, ...known });
    assert.equal(plan.do, expected);
    assert.equal(plan.do === 'skip' ? plan.why : undefined, why);
    assert.equal(isToBeRead(plan), expected !== 'skip');
    assert.match(explain(plan), /^(?:will|skipped: )/);
  });
}

test('a repeated source knows what becomes of it without the one that it repeats', () => {
  const plan = planFor({ ...unknown, sameInBatch: 'b.txt', isInCorpus: true });
  assert.deepEqual(plan.do === 'skip' && plan.otherwise, { do: 'replace' });
});
