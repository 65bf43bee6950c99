/** The short version of `npm run chaos:attempt`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSeed } from '../support/first-seed.ts';
import { killAttempts } from './attempt-kills.ts';
import { chanceFrom } from './chance.ts';

const random = chanceFrom(firstSeed(import.meta.url)).next;

test('a kill during the commit leaves all of the batch or none, and no workspace', async () => {
  const { kills, whole, none, problems } = await killAttempts({ kills: 8, random });
  assert.deepEqual(problems, []);
  assert.equal(kills, 8);
  assert.ok(whole > 0 && none > 0, `${whole} whole, ${none} none`);
});
