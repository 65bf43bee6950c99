/** What Pawl relies on in a reranker. */
import assert from 'node:assert/strict';
import { checkReranker, type RerankedPassage, type RerankerPort } from '../port/reranker.ts';
import { type Case, type Cleanup, conformance, endless } from './conformance.ts';

const passageOf = (text: string, id: string): RerankedPassage => {
  return { id, text, title: null, heading: '' };
};
const passages = [
  passageOf('Bread is made of flour, water, salt and time.', 'bread'),
  passageOf('The moon moves the sea, twice a day.', 'tides'),
];

const cases: readonly Case<RerankerPort>[] = [
  [
    'it has every member of the port',
    async (reranker) => {
      checkReranker(reranker);
    },
  ],
  [
    'each passage has a score from 0 to 1, and the passage that answers has the higher one',
    async (reranker) => {
      const query = 'What moves the sea?';
      for (const given of [passages, passages.toReversed(), passages.slice(1)]) {
        const scores = await reranker.rerank(query, given, { signal: endless() });
        assert.equal(scores.length, given.length);
        assert.ok(scores.every((score) => score >= 0 && score <= 1));
        const best = given[scores.indexOf(Math.max(...scores))];
        assert.equal(best?.id, 'tides');
      }
    },
  ],
  [
    'it reads as many passages as it asks for',
    async (reranker) => {
      const { topN = 50 } = reranker;
      const many = Array.from({ length: topN }, (_, at) => passageOf(`The sea ${at}.`, `${at}`));
      const scores = await reranker.rerank('sea', many, { signal: endless() });
      assert.equal(scores.length, topN);
    },
  ],
];

/** Registers the tests of a reranker with `node:test`. */
export function rerankerConformance(
  name: string,
  make: (t: Cleanup) => Promise<RerankerPort> | RerankerPort,
): void {
  conformance(`the reranker ${name}`, cases, make);
}
