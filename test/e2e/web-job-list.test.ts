/** The list of jobs: by what they need of a person, by a part of their name, and many at once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AnswerOf } from '../../src/contract/contract.ts';
import { until } from '../support/wait.ts';
import { findProblems, openSuite, openView, postJob } from './web-browser.ts';

const suite = openSuite();

type JobList = AnswerOf<'GET /jobs'>;

async function list(query: string): Promise<JobList> {
  const response = await fetch(`${suite.address}/jobs?${query}`);
  assert.equal(response.status, 200, query);
  return (await response.json()) as JobList;
}

const namesOf = ({ items }: JobList): (string | null)[] => items.map(({ url }) => url);

const documentsOf = (name: string, text: string) => [{ id: name, title: name, text }];

/** Two done, one of them with a failure; one failed; one that waits for its page. */
async function fill(corpus: string): Promise<void> {
  const { address, site } = suite;
  site.hold(`/${corpus}`);
  await postJob(address, { corpus_name: corpus, documents: documentsOf('well', 'A heron.') });
  const partly = [...documentsOf('partly', 'A coot.'), { id: 'blank', text: ' ' }];
  await postJob(address, { corpus_name: corpus, documents: partly });
  await postJob(address, { corpus_name: corpus, documents: documentsOf('empty', '\n') });
  await postJob(address, { corpus_name: corpus, urls: [`${site.origin}/${corpus}/page`] });
  await until(
    async () => {
      const { counts } = await list(`corpus_name=${corpus}&counts=true`);
      return counts?.done === 3 && counts.attention === 2;
    },
    { what: 'three jobs to end' },
  );
}

describe('the list of jobs', () => {
  test('has groups with counts, finds a part of a name, and reads on', async (t) => {
    await fill('reeds');
    t.after(() => suite.site.release('/reeds'));
    const { counts } = await list('corpus_name=reeds&counts=true');
    assert.deepEqual(counts, { all: 4, running: 1, attention: 2, done: 3 });
    const of = async (group: string) => namesOf(await list(`corpus_name=reeds&group=${group}`));
    assert.deepEqual(await of('running'), [`${suite.site.origin}/reeds/page`]);
    assert.deepEqual(await of('attention'), ['inline:empty', 'inline:partly']);
    assert.deepEqual(await of('done'), ['inline:empty', 'inline:partly', 'inline:well']);
    const first = await list('corpus_name=reeds&group=done&limit=2');
    const rest = await list(`corpus_name=reeds&group=done&limit=2&cursor=${first.next_cursor}`);
    assert.deepEqual(namesOf(first), ['inline:empty', 'inline:partly']);
    assert.deepEqual([namesOf(rest), rest.next_cursor], [['inline:well'], null]);
    const failed = await list('corpus_name=reeds&group=attention&state=failed');
    assert.deepEqual(namesOf(failed), ['inline:empty']);
    assert.deepEqual(namesOf(await list('corpus_name=reeds&text=PART')), ['inline:partly']);
    const id = rest.items[0]?.job_id ?? '';
    assert.deepEqual(namesOf(await list(`text=${id}`)), ['inline:well']);
    assert.deepEqual(namesOf(await list('corpus_name=reeds&text=%25')), []);
  });

  test('a job whose failures were discarded needs nothing', async () => {
    const documents = documentsOf('lost', ' ');
    const job = await postJob(suite.address, { corpus_name: 'weir', documents });
    const attention = async () =>
      (await list('corpus_name=weir&group=attention&counts=true')).counts?.attention;
    await until(async () => (await attention()) === 1, { what: 'the failure' });
    const items = (await (await fetch(`${suite.address}/jobs/${job}/items`)).json()) as {
      items: { item_id: number }[];
    };
    const body = JSON.stringify({ item_ids: items.items.map(({ item_id }) => item_id) });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${suite.address}/inbox/discard`, { method: 'POST', headers, body });
    assert.equal(await attention(), 0);
    assert.deepEqual(namesOf(await list('corpus_name=weir&group=attention')), []);
  });

  test('shows what needs attention, finds a job, and retries several at once', async (t) => {
    await fill('marsh');
    const { page, visit, complaints } = await openView(t, suite);
    await visit('/jobs?corpus_name=marsh');
    await page.getByRole('tab', { name: 'All 4' }).waitFor();
    await page.getByRole('tab', { name: 'Running 1' }).waitFor();
    await page.getByRole('tab', { name: 'Done 3' }).waitFor();
    await page.keyboard.press('/');
    await page.getByLabel('Find a job').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('part');
    await page.getByText('1 job', { exact: true }).waitFor();
    await page.getByLabel('Find a job').fill('');
    await page.getByRole('tab', { name: 'Needs attention 2' }).click();
    await page.getByText('2 jobs', { exact: true }).waitFor();
    assert.deepEqual(await findProblems(page), []);
    await page.getByLabel('Choose inline:empty').check();
    await page.getByRole('button', { name: 'Retry 1 job' }).waitFor();
    await page.getByLabel('Choose all').check();
    await page.getByRole('button', { name: 'Retry 2 jobs' }).click();
    await page.getByText('2 jobs and 2 documents continue.').waitFor();
    suite.site.release('/marsh');
    await page.getByRole('tab', { name: 'Running 0' }).waitFor();
    // They have failed again, for the same reason.
    await page.getByRole('tab', { name: 'Needs attention 2' }).waitFor();
    await page.getByRole('tab', { name: 'Running 0' }).click();
    await page.getByText('No job matches the filter').waitFor();
    assert.deepEqual(complaints, []);
  });
});
