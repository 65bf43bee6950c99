import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Job } from '../../src/contract/schema/schema.ts';
import { isMatch, type JobPages, patchPages, placeOnTop } from './job-list.ts';

const job = (id: number, more: Partial<Job> = {}): Job =>
  ({
    job_id: `job-${id}`,
    status: 'scraping',
    state: 'running',
    corpus_name: 'a',
    created_at: new Date(id * 1000).toISOString(),
    ...more,
  }) as Job;

const pageOf = (ids: readonly number[], next: string | null = null) => ({
  items: ids.map((id) => job(id)),
  next_cursor: next,
});

const pages: JobPages = {
  pages: [pageOf([9, 8], 'c'), pageOf([7, 6])],
  pageParams: [undefined, 'c'],
};

const idsOf = (list: JobPages): string[] =>
  list.pages.flatMap(({ items }) => items.map(({ job_id }) => job_id.slice(4)));

describe('a list of jobs', () => {
  test('replaces a changed job in its place, and leaves other pages as they are', () => {
    const done = job(7, { status: 'done' });
    const patched = patchPages(pages, new Map([[done.job_id, done]]), {});
    assert.equal(patched.pages[1]?.items[0]?.status, 'done');
    assert.equal(patched.pages[0], pages.pages[0]);
    assert.deepEqual(idsOf(patched), ['9', '8', '7', '6']);
  });

  test('knows which jobs belong to a group, and which have a name', () => {
    const groupsOf = (one: Job) =>
      (['running', 'attention', 'done'] as const).filter((group) => isMatch(one, { group }));
    assert.deepEqual(groupsOf(job(1, { state: 'running', items_failed: 0 })), ['running']);
    assert.deepEqual(groupsOf(job(1, { state: 'paused', items_failed: 0 })), ['attention']);
    assert.deepEqual(groupsOf(job(1, { state: 'succeeded', items_failed: 2 })), [
      'attention',
      'done',
    ]);
    const named = job(1, { url: 'upload:Guide.md' });
    assert.equal(isMatch(named, { text: 'guide' }), true);
    assert.equal(isMatch(named, { text: 'other' }), false);
  });

  test('drops a job that no longer matches the filter', () => {
    const done = job(8, { status: 'done' });
    const patched = patchPages(pages, new Map([[done.job_id, done]]), { status: 'scraping' });
    assert.deepEqual(idsOf(patched), ['9', '7', '6']);
  });

  test('puts new jobs on top, each once, newest first', () => {
    const placed = placeOnTop(pages, pageOf([11, 10, 9, 8], 'x'));
    assert.deepEqual(idsOf(placed), ['11', '10', '9', '8', '7', '6']);
  });

  test('reloads if there are more new jobs than one page', () => {
    assert.deepEqual(idsOf(placeOnTop(pages, pageOf([20, 19], 'x'))), ['20', '19']);
  });

  test('is matched by every part of a filter', () => {
    const failed = job(1, { status: 'failed', state: 'failed', failed_stage: 'chunking' });
    assert.equal(isMatch(failed, { status: 'failed', failed_stage: 'chunking' }), true);
    assert.equal(isMatch(failed, { failed_stage: 'scraping' }), false);
    assert.equal(isMatch(failed, { corpus_name: 'b' }), false);
    assert.equal(isMatch(failed, { state: 'running' }), false);
  });
});
