/** The short version of `npm run chaos -- sync`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { firstSeed } from '../support/first-seed.ts';
import { patience } from '../support/patience.ts';
import { killedPlaces } from '../support/sync-places.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { killFollowers } from './sync-kills.ts';

const seed = firstSeed(import.meta.url);

describe('kills of processes that follow a source leave the corpus equal to it', () => {
  for (const makePlace of killedPlaces.slice(0, 2)) {
    test(`5 kills: ${makePlace.name}, seed ${seed}`, { timeout: patience.testMs }, async (t) => {
      const place = await makePlace(t);
      const directory = temporaryDirectory(t);
      const { differences, paidTwice, errors, kills } = await killFollowers({
        ...{ place, directory, seed },
        kills: 5,
      });
      assert.deepEqual(
        { differences, paidTwice, errors },
        { differences: [], paidTwice: [], errors: [] },
      );
      assert.equal(kills, 5);
    });
  }
});
