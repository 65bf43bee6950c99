/** The short version of the batch part of `npm run chaos`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { firstSeed } from '../support/first-seed.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { killBatchWorkerAt, killBatchWorkers } from './batch-kills.ts';

const seed = firstSeed(import.meta.url);
/** Failpoints where money is at stake; `npm run chaos` has all of them. */
const someFailpoints = ['batch.after-submit', 'batch.before-commit', 'batch.after-cancel'] as const;

describe('kills of processes with different settings lose and overpay no batch work', () => {
  test('9 at random moments', async (t) => {
    const directory = temporaryDirectory(t);
    const result = await killBatchWorkers({ directory, kills: 9, seed });
    const { findings, errors, documents, batches } = result;
    assert.deepEqual({ findings, errors }, { findings: [], errors: [] });
    assert.ok(documents > 9 && batches > 1, `${documents} documents, ${batches} batches`);
  });

  for (const failpoint of someFailpoints) {
    test(`one at ${failpoint}`, async (t) => {
      const directory = temporaryDirectory(t);
      const result = await killBatchWorkerAt({ directory }, { failpoint, seed });
      const { findings, errors, isHit } = result;
      assert.deepEqual({ findings, errors }, { findings: [], errors: [] });
      assert.ok(isHit, `no process passed ${failpoint}`);
    });
  }
});
