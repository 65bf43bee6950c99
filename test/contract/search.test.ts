/** Search on Postgres: its own ranking of keywords, and the same scan of vectors as on SQLite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { startPostgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';

test('Postgres finds by keywords, vectors and both, and forgets what is deleted', async (t) => {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const pawl = await open({ data: temporaryDirectory(t), database: postgres.url });
  const corpus = 'handbook';
  try {
    const job = await pawl.ingest(
      [
        { id: 'a', title: 'Health', text: 'A physician examines all employees each year.' },
        { id: 'b', title: 'Travel', text: 'Flights are booked by the office.' },
      ],
      { corpus },
    );
    await job.wait();
    for (const mode of ['hybrid', 'vector', 'keyword'] as const) {
      const filter = { title: 'health', source: 'inline:' };
      const hits = await pawl.search(corpus, 'doctor examining', { mode, filter });
      assert.deepEqual(
        hits.map(({ title }) => title),
        ['Health'],
      );
    }
    const [travel] = await pawl.search(corpus, 'flights');
    assert.equal(travel?.title, 'Travel');
    await pawl.deleteDocument(travel?.documentId ?? '');
    const left = await pawl.search(corpus, 'flights', { mode: 'vector' });
    assert.deepEqual(
      left.map(({ title }) => title),
      ['Health'],
    );
  } finally {
    await pawl.close();
  }
});
