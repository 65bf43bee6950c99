import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { batchCost } from './batch-cost.ts';

const job = (model?: string) => ({
  external_job_id: 'x',
  status: 'COMPLETED' as const,
  ...(model !== undefined && { model }),
});
const tokens = { tokens_in: 1_000_000, tokens_out: 100_000 };

describe('the cost of a batch task', () => {
  test('is shown beside the cost of the same live requests', () => {
    const cost = batchCost(tokens, { jobs: [job('gpt-4o-mini'), job('gpt-4o-mini')] });
    assert.deepEqual(cost, { cents: 10.5, at_once_cents: 21 });
  });

  test('is unknown for two models, an unknown price, recordings, and without tokens', () => {
    assert.equal(batchCost(tokens, { jobs: [job('gpt-4o'), job('gpt-4o-mini')] }), null);
    assert.equal(batchCost(tokens, { jobs: [job('a-model-of-mine')] }), null);
    assert.equal(batchCost(tokens, { jobs: [job()] }), null);
    assert.equal(batchCost({ tokens_in: 0, tokens_out: 0 }, { jobs: [job('gpt-4o')] }), null);
    assert.equal(batchCost(tokens, null), null);
  });
});
