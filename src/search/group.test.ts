import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discountRepeats, spread } from './group.ts';

const place = (generation_id: number, ordinal: number, score: number) => {
  return { generation_id, ordinal, score };
};
const documentOf = ({ generation_id }: { generation_id: number }) => generation_id;

test('a further passage of a document moves behind others that are nearly as good', () => {
  const ranked = [place(1, 0, 1), place(1, 1, 0.95), place(1, 2, 0.9), place(2, 0, 0.8)];
  assert.deepEqual(
    discountRepeats(ranked).map(({ generation_id, ordinal }) => `${generation_id}/${ordinal}`),
    ['1/0', '2/0', '1/1', '1/2'],
  );
});

test('a document that is far better keeps its places, and scores stay in order', () => {
  const ranked = [place(1, 0, 1), place(1, 1, 0.9), place(2, 0, 0.3), place(3, 0, 0.3)];
  const discounted = discountRepeats(ranked);
  assert.deepEqual(discounted.map(documentOf), [1, 1, 2, 3]);
  const scores = discounted.map(({ score }) => score);
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => b - a),
  );
});

test('of ten results in a row at most three are of one document, while others follow', () => {
  const one = Array.from({ length: 8 }, (_, ordinal) => place(1, ordinal, 1));
  const others = Array.from({ length: 12 }, (_, id) => place(id + 2, 0, 0.01));
  const ten = spread([...one, ...others], { documentOf, size: 10 });
  assert.equal(ten.filter((row) => documentOf(row) === 1).length, 3);
  const alone = spread(one, { documentOf, size: 8 });
  assert.equal(alone.length, 8);
});
