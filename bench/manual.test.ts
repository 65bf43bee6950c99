import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchWordsOf, termOf } from '../src/pipeline/word/terms.ts';
import { readManual } from './manual.ts';

test('paraphrased questions share no content word with the heading that answers them', () => {
  for (const { kind, question, heading, pages } of readManual().questions) {
    const known = new Set(searchWordsOf(heading).map(termOf));
    const shared = searchWordsOf(question).filter((word) => known.has(termOf(word)));
    assert.equal(shared.length === 0, kind === 'paraphrased', `${question}: ${shared.join(', ')}`);
    assert.ok(pages.length > 0, question);
  }
});

test('half of the sixty questions are paraphrased', () => {
  const { questions } = readManual();
  assert.equal(questions.length, 60);
  assert.equal(questions.filter(({ kind }) => kind === 'paraphrased').length, 30);
  assert.equal(new Set(questions.map(({ question }) => question)).size, 60);
});
