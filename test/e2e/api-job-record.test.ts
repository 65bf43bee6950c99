import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';

test('the url of a job is its first source, even if that is not an address', async (t) => {
  const { submit, ask } = await openBench(t, { work: false });
  const urlOf = async (body: object) => {
    const id = await submit({ corpus_name: 'a', ...body });
    return (await ask('GET /jobs/:id', { params: { id } })).body.url;
  };
  const urls = ['https://example.com/a', 'https://example.com/b'];
  assert.equal(await urlOf({ urls }), urls[0]);
  assert.equal(await urlOf({ documents: [{ id: 'cat', text: 'A cat.' }] }), 'inline:cat');
});

test('a job shows whether it is an ingest or a crawl', async (t) => {
  const { submit, ask } = await openBench(t, { work: false });
  const typeOf = async (body: object) => {
    const id = await submit({ corpus_name: 'a', ...body });
    return (await ask('GET /jobs/:id', { params: { id } })).body.type;
  };
  assert.equal(await typeOf({ documents: [{ text: 'A heron.' }] }), 'ingest');
  assert.equal(await typeOf({ crawl: { url: 'https://example.com/' } }), 'crawl');
});

test('a job counts its items by outcome', async (t) => {
  const { submit, ended } = await openBench(t);
  const documents = [
    { id: 'a', text: 'A heron.' },
    { id: 'b', text: 'An eel.' },
  ];
  const id = await submit({ corpus_name: 'a', documents: [...documents, { id: 'c', text: '' }] });
  const { items_total, items_done, items_failed, items_canceled, items_waiting } = await ended(id);
  assert.deepEqual(
    [items_total, items_done, items_failed, items_canceled, items_waiting],
    [3, 2, 1, 0, 0],
  );
});

test('failed jobs are counted by their failed stage', async (t) => {
  const { submit, ended, ask } = await openBench(t);
  await ended(await submit({ corpus_name: 'a', documents: [{ id: 'x', text: '' }] }));
  await ended(await submit({ corpus_name: 'a', documents: [{ text: 'A heron.' }] }));
  const line = /^jobs_failed_total\{stage="(\w+)"\} (\d+)$/gm;
  const counted = async () => [...(await ask<string>('GET /metrics')).body.matchAll(line)];
  await until(async () => (await counted()).length > 0, { what: 'the count of failed jobs' });
  assert.deepEqual(
    (await counted()).map(([, stage, count]) => [stage, count]),
    [['scraping', '1']],
  );
});
