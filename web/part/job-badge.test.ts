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
  const items = { items_total: 1, items_failed: 0 };
  const url = 'https://example.org/';
  return { status, state: 'running', message, url, partial: false, ...items, ...more } as Job;
};

describe('a status', () => {
  for (const [status, stage, state, message] of table) {
    test(`${[status, stage].join(' ').trim()} is shown as “${message}”`, () => {
      const job = jobOf(status, stage);
      assert.match(badgeOf(job).state, state);
      assert.equal(messageOf(job), message);
    });
  }

  test('of a job with failures among its documents is amber, and says how many', () => {
    const job = {
      ...jobOf('done', undefined),
      partial: true,
      items_total: 381,
      items_done: 251,
      items_failed: 130,
    } as Job;
    assert.deepEqual([badgeOf(job).tone, badgeOf(job).state], ['warn', 'Done with 130 failures']);
    assert.equal(messageOf(job), '251 documents ready to search, 130 failed');
  });

  test('of a failed upload or text does not blame an address', () => {
    const failedOf = (url: string, code: string): string => {
      const error = { stage: 'scraping', step: 'fetched', code, context: {} };
      const message = jobMessage('failed', error);
      return messageOf({ ...jobOf('failed', 'scraping'), url, message, error } as unknown as Job);
    };
    assert.match(failedOf('upload:scan.pdf', 'parse_error_strict'), /^Document is damaged\. /);
    assert.match(failedOf('inline:note', 'empty_source'), /^Source is empty\. Check that/);
    assert.equal(
      failedOf('https://example.org/', 'http_404'),
      jobMessage('failed', {
        stage: 'scraping',
        step: 'fetched',
        code: 'http_404',
        context: {},
      }),
    );
  });

  test('of a canceled job says what is ready', () => {
    const job = { ...jobOf('canceled', undefined), items_total: 6000, items_done: 480 } as Job;
    assert.equal(messageOf(job), 'Canceled with 480 of 6,000 ready');
  });

  test('of a job that a user has paused is paused, at any step of its documents', () => {
    const job = { ...jobOf('scraping', undefined), state: 'paused' } as Job;
    assert.deepEqual([badgeOf(job).state, messageOf(job)], ['Paused', 'Paused']);
  });
});
