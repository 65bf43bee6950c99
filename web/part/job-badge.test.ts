import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Job } from '../../src/contract/schema/schema.ts';
import { jobMessage } from '../../src/kernel/job-message.ts';
import type { Stage } from '../../src/kernel/lifecycle/stage.ts';
import { badgeOf, messageOf } from './job-badge.ts';

/** Status and failed stage, with the page state and the message that users see. */
const table: readonly [Job['status'], Stage | undefined, state: RegExp, message: string][] = [
  ['pending', undefined, /^Queued/, 'Job queued'],
  ['scraping', undefined, /^Progress — stage 1 of 3$/, 'Fetching content…'],
  ['chunking', undefined, /^Progress — stage 2 of 3$/, 'Processing content…'],
  ['embedding', undefined, /^Progress — stage 3 of 3$/, 'Indexing content…'],
  ['done', undefined, /^Success$/, 'Document indexed — ready to search'],
  ['failed', 'scraping', /^Error$/, 'Could not fetch the URL. Check that it is accessible.'],
  [
    'failed',
    'chunking',
    /^Error$/,
    'Content could not be processed. Try a different URL or format.',
  ],
  ['failed', 'embedding', /^Error$/, 'Indexing failed. This may be a temporary issue — try again.'],
];

const jobOf = (status: Job['status'], stage: Stage | undefined): Job => {
  const context = { url: 'https://example.org/' };
  const error = { stage: stage ?? 'scraping', step: 'fetched', code: 'http_403', context };
  const message = jobMessage(status, status === 'failed' ? error : null);
  const more = stage === undefined ? {} : { failed_stage: stage };
  return { status, state: 'running', message, partial: false, items_failed: 0, ...more } as Job;
};

describe('a status', () => {
  for (const [status, stage, state, message] of table) {
    test(`${[status, stage].join(' ').trim()} is shown as “${message}”`, () => {
      const job = jobOf(status, stage);
      assert.match(badgeOf(job).state, state);
      assert.equal(messageOf(job), message);
    });
  }

  test('of a job that a user has paused is paused, at any step of its documents', () => {
    const job = { ...jobOf('scraping', undefined), state: 'paused' } as Job;
    assert.deepEqual([badgeOf(job).state, messageOf(job)], ['Paused', 'Paused']);
  });
});
