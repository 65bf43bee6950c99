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
  ['a new source is added', {}, 'add'],
  ['a changed source replaces its document', { isInCorpus: true }, 'replace'],
  [
    'an unchanged source is skipped',
    { isInCorpus: true, sameBytes: ['upload:a.txt'] },
    'skip',
    'unchanged',
  ],
  [
    'a source that the corpus has under another name is skipped',
    { sameBytes: ['upload:b.txt'] },
    'skip',
    'in_corpus',
  ],
  [
    'a source that changed into a copy of another document still replaces its document',
    { isInCorpus: true, sameBytes: ['upload:b.txt'] },
    'replace',
  ],
  ['a source staged twice is read once', { sameInBatch: 'b.txt' }, 'skip', 'in_batch'],
  [
    'a source staged twice and unchanged reports that it is unchanged',
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

test('a duplicate source knows its plan without the source it repeats', () => {
  const plan = planFor({ ...unknown, sameInBatch: 'b.txt', isInCorpus: true });
  assert.deepEqual(plan.do === 'skip' && plan.otherwise, { do: 'replace' });
});
