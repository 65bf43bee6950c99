import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failureGroups } from './failure/table.ts';
import { failedMessage, jobMessage } from './job-message.ts';
import { failedStageMessages } from './lifecycle/stage.ts';

const page = { url: 'https://example.org/page' };
const upload = { url: 'the upload' };
const fetched = { stage: 'scraping', step: 'fetched' };
const extracted = { stage: 'scraping', step: 'content_extracted' };
const { scraping, chunking, embedding } = failedStageMessages;

describe('the message of a failed job', () => {
  test('blames the address for each failure to fetch it', () => {
    for (const code of Object.keys(failureGroups['Fetching a source'])) {
      assert.equal(failedMessage({ ...fetched, code, context: page }), scraping, code);
    }
    for (const code of ['max_retries_exceeded', 'crashed_repeatedly', 'stage_stuck']) {
      assert.equal(failedMessage({ ...fetched, code, context: page }), scraping, code);
    }
    assert.equal(failedMessage({ ...extracted, code: 'captcha', context: page }), scraping);
  });

  test('blames the content if it was read but could not be used', () => {
    const own = ['source_missing', 'source_unreadable'];
    for (const code of Object.keys(failureGroups['Reading a source'])) {
      if (own.includes(code)) continue;
      for (const step of [fetched, extracted]) {
        for (const context of [page, upload]) {
          assert.equal(failedMessage({ ...step, code, context }), chunking, code);
        }
      }
    }
    for (const code of ['timeout_soft', 'crashed_repeatedly', 'provider_unavailable']) {
      assert.equal(failedMessage({ ...extracted, code, context: page }), chunking, code);
    }
  });

  test('never mentions a URL that could not be fetched if there is no URL', () => {
    for (const group of Object.values(failureGroups)) {
      for (const code of Object.keys(group)) {
        for (const context of [upload, {}, { url: 'docs/handbook.pdf' }]) {
          for (const step of [fetched, extracted]) {
            assert.notEqual(failedMessage({ ...step, code, context }), scraping, code);
          }
        }
      }
    }
  });

  test('says when a file is missing', () => {
    const message = failedMessage({ ...fetched, code: 'source_missing', context: { url: 'a.md' } });
    assert.match(message, /^Source not found\. Check the path/);
  });

  test('names the stage if it failed later', () => {
    const later = { step: 'embedded', context: page, code: 'provider_unavailable' };
    assert.equal(failedMessage({ ...later, stage: 'embedding' }), embedding);
    assert.equal(failedMessage({ ...later, stage: 'chunking', step: 'chunked' }), chunking);
    assert.equal(jobMessage('failed', null), embedding);
    assert.equal(jobMessage('pending', null), 'Job queued');
  });
});
