import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf, lanePriceOf, priceOf, prices } from './prices.ts';

test('every price has a source and a date, and costs no more in a batch', () => {
  for (const [model, { input, output, batch, source, asOf }] of Object.entries(prices)) {
    assert.ok(input > 0 && output >= 0, model);
    assert.ok(source !== '' && /^\d{4}-\d{2}$/.test(asOf), model);
    assert.ok((batch?.input ?? 0) <= input && (batch?.output ?? 0) <= output, model);
  }
});

test('a model that is not in the table has no price', () => {
  assert.equal(priceOf('bge-m3'), undefined);
  assert.equal(priceOf('constructor'), undefined);
  assert.equal(priceOf('text-embedding-3-small')?.input, 2);
});

test('a million tokens cost what the table says', () => {
  assert.equal(costOf({ input: 1_000_000, output: 500_000 }, { input: 15, output: 60 }), 45);
  assert.equal(costOf({ input: 500_000 }, { input: 2, output: 0 }), 1);
});

test('the batch discount also applies to a configured price', () => {
  assert.equal(lanePriceOf('gpt-4o-mini')?.batch?.output, 30);
  const agreed = lanePriceOf('gpt-4o-mini', { input: 8, output: 20 });
  assert.deepEqual(agreed, { input: 8, output: 20, batch: { input: 4, output: 10 } });
  const own = lanePriceOf('own-model', { input: 8 });
  assert.deepEqual(own, { input: 8, output: 0, batch: { input: 8, output: 0 } });
  assert.equal(lanePriceOf('own-model'), undefined);
});
