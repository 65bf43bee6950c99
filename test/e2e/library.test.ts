/** Pawl as a library, on both databases. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Failure, type OpenOptions, open, type Pawl } from '../../src/index.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres({ durable: false });
});
after(() => postgres.stop());

const stores: Readonly<Record<string, (data: string) => Promise<OpenOptions>>> = {
  'the embedded store': async (data) => ({ data }),
  Postgres: async (data) => ({ data, database: await postgres.createDatabase() }),
};

const cat = { id: 'cat', title: 'The cat', text: 'The cat sleeps on the harmonium.' };
const dog = { id: 'dog', markdown: '# The dog\n\nThe dog guards the quince tree.' };

for (const [name, optionsOf] of Object.entries(stores)) {
  const setup = async (t: Cleanup): Promise<{ pawl: Pawl }> => {
    const pawl = await open(await optionsOf(temporaryDirectory(t)));
    t.after(() => pawl.close());
    return { pawl };
  };

  describe(`the library on ${name}`, () => {
    test('ingests, yields every event once and in order, and finds', async (t) => {
      const { pawl } = await setup(t);
      const job = await pawl.ingest([cat, dog], { corpus: 'pets' });
      const events = [];
      for await (const event of job.events()) events.push(event);
      assert.equal(events[0]?.kind, 'job_accepted');
      assert.equal(events.at(-1)?.kind, 'job_succeeded');
      const numbers = events.map(({ seq }) => seq);
      assert.deepEqual(
        numbers,
        [...new Set(numbers)].sort((one, other) => one - other),
      );
      const hits = await pawl.search('pets', 'harmonium', { topK: 5, mode: 'keyword' });
      assert.deepEqual(
        hits.map(({ title, sourceUrl }) => [title, sourceUrl]),
        [['The cat', 'inline:cat']],
      );
    });

    test('returns the result of an ended job, on every call', async (t) => {
      const { pawl } = await setup(t);
      const job = await pawl.ingest([cat, { id: 'void', text: '' }], { corpus: 'pets' });
      const summary = await job.wait();
      assert.deepEqual(await job.wait(), summary);
      const { state, partial, itemsDone, itemsFailed, causes } = summary;
      assert.deepEqual([state, partial, itemsDone, itemsFailed], ['succeeded', true, 1, 1]);
      assert.deepEqual(
        causes.map(({ cause, count }) => [cause, count]),
        [['empty_source', 1]],
      );
      assert.deepEqual(
        (await pawl.causes({ corpus: 'pets' })).map(({ cause, advice }) => [cause, advice]),
        causes.map(({ cause, advice }) => [cause, advice]),
      );
      const [failed] = await pawl.inbox({ cause: 'empty_source', corpus: 'pets' }).all();
      assert.equal(failed?.source, 'inline:void');
      assert.deepEqual(await pawl.inbox({ cause: 'captcha' }).all(), []);
    });

    test('finds a job by a prefix of its id', async (t) => {
      const { pawl } = await setup(t);
      const { id } = await pawl.ingest([cat], { corpus: 'pets' });
      assert.equal((await pawl.job(id.slice(0, 8))).id, id);
      await assert.rejects(pawl.job('no such job'), { code: 'job_unknown' });
    });

    test('resumes the unfinished job of the same files on request', async (t) => {
      const data = temporaryDirectory(t);
      const file = join(data, 'cat.txt');
      writeFileSync(file, cat.text);
      const idle = await open({ ...(await optionsOf(data)), work: false });
      t.after(() => idle.close());
      const job = await idle.ingest([file], { corpus: 'pets', resume: true });
      const same = await idle.ingest([file], { corpus: 'pets', resume: true });
      assert.deepEqual([same.id, same.isResumed], [job.id, true]);
      const other = await idle.ingest([file], { corpus: 'others', resume: true });
      assert.equal(other.isResumed, false);
      const forced = await idle.ingest([file], { corpus: 'pets', resume: true, force: true });
      assert.equal(forced.isResumed, false);
    });

    test('ends its streams when it is closed', async (t) => {
      const pawl = await open({ ...(await optionsOf(temporaryDirectory(t))), work: false });
      const job = await pawl.ingest([cat], { corpus: 'pets' });
      const waiting = job.events();
      assert.equal((await waiting.next()).value?.kind, 'job_accepted');
      const ended = waiting.next();
      await pawl.close();
      assert.equal((await ended).done, true);
    });

    test('refuses with a code', async (t) => {
      const { pawl } = await setup(t);
      const codeOf = (sources: Parameters<Pawl['ingest']>[0], corpus = 'pets') =>
        pawl.ingest(sources, { corpus }).then(
          () => 'accepted',
          (error: unknown) => (error instanceof Failure ? error.code : error),
        );
      assert.equal(await codeOf([]), 'sources_empty');
      assert.equal(await codeOf([cat], 'No!'), 'corpus_name_invalid');
      assert.equal(await codeOf([{ id: 'none' }]), 'bad_request');
      assert.equal(await codeOf([{ text: 'one', html: 'two' }]), 'bad_request');
      assert.equal(await codeOf([cat, '/no/such/file']), 'source_missing');
      assert.equal(await codeOf(['http://[']), 'invalid_url');
      assert.deepEqual(await pawl.jobs().all(), []);
    });
  });
}
