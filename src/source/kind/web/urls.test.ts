import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnsDuring } from '../../../../test/support/measure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { WebTools } from './page-reader.ts';
import { urlsKind } from './urls.ts';

/** Each turn is a slice of time; the whole takes hundreds of milliseconds. */
const turnsMin = 5;

test('a long list of addresses does not hold the event loop', async () => {
  const { itemsMax } = limits.job;
  const addresses = Array.from({ length: itemsMax }, (_, n) => `https://a.example/${n}/page`);
  const place = { location: addresses.join('\n'), options: {} };
  const { check } = urlsKind({} as WebTools);
  const turns = await turnsDuring(async () => {
    assert.equal((await check(place)).split('\n').length, itemsMax);
  });
  assert.ok(turns >= turnsMin, `${turns} turns`);
});
