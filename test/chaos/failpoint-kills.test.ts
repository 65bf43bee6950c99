import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failpoints } from '../../src/observe/failpoint.ts';
import { firstSeed } from '../support/first-seed.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { killAtFailpoint } from './failpoint-kills.ts';

const seed = firstSeed(import.meta.url);

describe('work of a process that kills itself is recovered', () => {
  for (const failpoint of failpoints) {
    test(`at ${failpoint}`, async (t) => {
      const directory = temporaryDirectory(t);
      const result = await killAtFailpoint({ directory }, { failpoint, nth: 1, seed });
      const { findings, errors, isHit } = result;
      assert.deepEqual({ findings, errors }, { findings: [], errors: [] });
      assert.ok(isHit, `no process passed ${failpoint}`);
    });
  }
});
