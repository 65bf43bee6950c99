/** The queues of the services, in the process with all roles. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../../src/kernel/limits/limits.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';
import { openSite } from './web-site.ts';

const internalKey = 'an-internal-key-of-24-or-more';
const internal = { 'x-api-key': internalKey };
const keys = { internalKey };

interface Enqueued {
  readonly status: string;
  readonly page: { readonly text: string } | null;
  readonly vectors: { readonly embeddings: readonly number[][] } | null;
  readonly error: { readonly code: string } | null;
}

describe('the services, from their queue', () => {
  test('a full queue refuses new messages, while the other accepts them', async (t) => {
    const site = await openSite(t);
    site.hold('/later');
    const { ask } = await openBench(t, { allowHosts: [site.host], queueDepthMax: 0 });
    const enqueue = (body: object) => ask('POST /enqueue', { body });
    const url = `${site.origin}/later`;
    let full = await enqueue({ url });
    assert.equal(full.status, 202);
    // After a second they are counted again, and running ones do not count. At the latest when
    // every worker is busy, one message waits.
    for (let more = 0; full.status === 202 && more <= limits.handoff.placesScrape; more++) {
      full = await enqueue({ url });
    }
    assert.deepEqual([full.status, full.body.code], [429, 'queue_full']);
    assert.equal(full.headers.get('retry-after'), '30');
    assert.equal((await enqueue({ texts: ['a'] })).status, 202);
    site.release('/later');
  });

  test('without a job, the result is stored for its caller and fetched by its id', async (t) => {
    const site = await openSite(t);
    site.hold('/later');
    site.break('/gone');
    const { ask } = await openBench(t, { allowHosts: [site.host], keys });
    const enqueue = async (body: object): Promise<string> => {
      const { status, body: told } = await ask('POST /enqueue', { body });
      assert.equal(status, 202);
      return String(told.id);
    };
    const look = (id: string, headers = {}) =>
      ask<Enqueued>('GET /enqueue/:id', { params: { id }, headers });
    const ended = (id: string) =>
      until(
        async () => {
          const { body } = await look(id);
          return body.status === 'queued' ? undefined : body;
        },
        { what: 'the result' },
      );
    const page = await enqueue({ url: `${site.origin}/later` });
    assert.equal((await look(page)).body.status, 'queued');
    // Another caller cannot see it.
    const foreign = await ask('GET /enqueue/:id', { params: { id: page }, headers: internal });
    assert.deepEqual([foreign.status, foreign.body.code], [404, 'enqueued_unknown']);
    site.release('/later');
    const read = await ended(page);
    assert.deepEqual([read.status, read.vectors, read.error], ['done', null, null]);
    assert.match(read.page?.text ?? '', /plays by itself at night/);
    const made = await ended(await enqueue({ texts: ['A heron.', 'A crane.'] }));
    const sync = await ask('POST /embed', { body: { texts: ['A heron.', 'A crane.'] } });
    assert.deepEqual(made.vectors?.embeddings, sync.body.embeddings);
    const gone = await ended(await enqueue({ url: `${site.origin}/gone` }));
    assert.deepEqual([gone.status, gone.page, gone.error?.code], ['failed', null, 'http_404']);
    assert.equal((await look('nobody')).status, 404);
  });

  test('202 means queued, and the work is done without a job', async (t) => {
    const site = await openSite(t);
    site.hold('/later');
    const { ask } = await openBench(t, { allowHosts: [site.host] });
    const queued = await ask('POST /enqueue', { body: { url: `${site.origin}/later` } });
    const { id, ...told } = queued.body;
    assert.deepEqual([queued.status, told], [202, { job_id: null, status: 'queued' }]);
    assert.match(String(id), /^[0-9a-f-]{36}$/);
    const depth = async () => (await ask<string>('GET /metrics')).body;
    await until(() => site.waiting('/later') > 0, { what: 'the page to be requested' });
    site.release('/later');
    assert.match(await depth(), /queue_depth\{queue="turns"\} 0/);
    const texts = await ask('POST /enqueue', { body: { texts: ['a', 'b'] } });
    assert.equal(texts.status, 202);
  });

  test('only services may name a job, and both or neither input is refused', async (t) => {
    const { ask } = await openBench(t, { keys });
    const url = 'https://example.com/';
    const named = await ask('POST /enqueue', { body: { url, job_id: 'job-1' } });
    assert.deepEqual([named.status, named.body.code], [403, 'forbidden']);
    for (const body of [{}, { url, texts: ['a'] }]) {
      const answer = await ask('POST /enqueue', { body });
      assert.deepEqual([answer.status, answer.body.code], [400, 'bad_request']);
    }
    const body = { texts: ['a'], job_id: 'job-1' };
    const allowed = await ask('POST /enqueue', { body, headers: internal });
    assert.deepEqual(
      [allowed.status, allowed.body],
      [202, { job_id: 'job-1', status: 'queued', id: null }],
    );
  });
});
