import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../pipeline/word/analysis.ts';
import { chooseTerms, termsOf } from './feedback.ts';

const english = (text: string) => ({ text, analysis: 'en' });
const allAsRare = { size: 100, chunksWith: () => 5 };

test('the first passages lend their terms with more weight than later ones', () => {
  const passages = [
    english('harbour crane'),
    ...Array.from({ length: 10 }, () => english('engine room')),
    english('lantern glass'),
  ];
  const chosen = chooseTerms(termsOf(passages, new Analyzer()), allAsRare);
  const weightOf = (word: string) => chosen.find((one) => one.word === word)?.weight ?? 0;
  assert.equal(chosen[0]?.weight, 1);
  assert.ok(weightOf('engine') > weightOf('harbour'), 'of many passages');
  assert.ok(weightOf('harbour') > weightOf('lantern'), 'of the first passage');
});

test('rare terms weigh more than common ones', () => {
  const index = { size: 100, chunksWith: (term: string) => (term.startsWith('harb') ? 2 : 60) };
  const chosen = chooseTerms(termsOf([english('harbour crane')], new Analyzer()), index);
  assert.deepEqual(
    chosen.map(({ word }) => word),
    ['harbour', 'crane'],
  );
  assert.ok((chosen[1]?.weight ?? 1) < 0.5);
});
