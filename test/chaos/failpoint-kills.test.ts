import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failpoints } from '../../src/observe/failpoint.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { killAtFailpoint } from './failpoint-kills.ts';
import { printedSeed } from './seed.ts';

const seed = printedSeed();

describe('a process that kills itself is made up for', () => {
  for (const failpoint of failpoints) {
    test(`at ${failpoint}`, async (t) => {
      const directory = temporaryDirectory(t);
      const result = await killAtFailpoint({ directory }, { failpoint, nth: 1, seed });
      const { findings, errors, isHit } = result;
      assert.deepEqual({ findings, errors }, { findings: [], errors: [] });
      assert.ok(isHit, `nobody passed ${failpoint}`);
    });
  }
});
