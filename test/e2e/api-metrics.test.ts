import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';

describe('GET /metrics', () => {
  test('counts failures and durations of jobs, also of a retried one', async (t) => {
    const { submit, ended, ask } = await openBench(t);
    const documents = [
      { id: 'a', text: '' },
      { id: 'b', text: '' },
    ];
    const id = await submit({ corpus_name: 'a', documents });
    await ended(id);
    assert.equal((await ask('POST /jobs/:id/retry', { params: { id } })).body.items_retried, 2);
    const read = async () => {
      const { body } = await ask<string>('GET /metrics');
      return body.includes('job_duration_seconds_count 2') ? body : undefined;
    };
    const metrics = await until(read, { what: 'both ends to be counted' });
    for (const line of [
      'job_failures_total{code="E_EMPTY"} 2',
      'pawl_item_failures_total{code="empty_source"} 4',
      'jobs_failed_total{stage="scraping"} 2',
      'job_duration_seconds_count 2',
      'retry_attempts_total 0',
    ]) {
      assert.ok(metrics.includes(line), `${line} in ${metrics}`);
    }
  });
});
