import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchWordsOf, termOf } from '../src/pipeline/word/terms.ts';
import { manualNames, readManual } from './manual.ts';

test('paraphrased questions share no content word with the heading that answers them', () => {
  const all = manualNames.flatMap((name) => readManual(name).questions);
  for (const { kind, question, heading, pages } of all) {
    const known = new Set(searchWordsOf(heading).map(termOf));
    const shared = searchWordsOf(question).filter((word) => known.has(termOf(word)));
    assert.equal(shared.length === 0, kind === 'paraphrased', `${question}: ${shared.join(', ')}`);
    assert.ok(pages.length > 0, question);
  }
});

test('half of the questions are paraphrased', () => {
  const counts = { python: 60, git: 40, sqlite: 40 };
  for (const name of manualNames) {
    const { questions } = readManual(name);
    assert.equal(questions.length, counts[name]);
    assert.equal(questions.filter(({ kind }) => kind === 'paraphrased').length, counts[name] / 2);
    assert.equal(new Set(questions.map(({ question }) => question)).size, counts[name]);
  }
});
