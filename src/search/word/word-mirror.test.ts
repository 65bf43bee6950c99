import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Cleanup, temporaryDirectory } from '../../../test/support/temporary.ts';
import { realWorld } from '../../app/world.ts';
import { open } from '../../index.ts';
import { staticEmbedder } from '../../provider/embedding/static-embedder.ts';
import { openSqlite } from '../../store/driver/sqlite.ts';
import { sql } from '../../store/driver/statement.ts';
import { Searcher } from '../search.ts';
import { WordMirror } from './word-mirror.ts';

const caller = 'local';
const corpus = 'handbook';

async function setup(t: Cleanup, atOnceMax: number) {
  const data = temporaryDirectory(t);
  const pawl = await open({ data });
  const documents = Array.from({ length: 20 }, (_, n) => ({
    id: `d${n}`,
    text: `Lamp ${n} is lit.`,
  }));
  await (await pawl.ingest(documents, { corpus })).wait();
  await pawl.close();
  const database = openSqlite({ path: join(data, 'pawl.db'), world: realWorld() });
  const words = new WordMirror(database, { atOnceMax });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= database.close();
    return closed;
  };
  t.after(close);
  return { database, words, close };
}

/** Whether more than the query terms is in memory. */
async function isHeld(words: WordMirror): Promise<boolean> {
  const counted = await words.use(
    { caller, corpus },
    () => ['lamp'],
    (index) => index.chunksWith('lit'),
  );
  return counted === 20;
}

describe('the words of a large corpus', () => {
  test('are held from the second search on, and all searches find the same', async (t) => {
    const { database, words } = await setup(t, 10);
    const searcher = new Searcher({ database, embedder: staticEmbedder(), words });
    const search = () =>
      searcher.search({ caller, corpus, query: 'lamp 7', topK: 20, explain: true });
    const first = await search();
    assert.equal(first[0]?.text, 'Lamp 7 is lit.');
    assert.ok(
      first[0].explanation?.feedbackTerms.includes('lit'),
      'the first hits contributed terms',
    );
    await words.whenRead();
    assert.equal(await isHeld(words), false, 'a single search loads nothing more');
    const second = await search();
    await words.whenRead();
    assert.equal(await isHeld(words), true);
    const third = await search();
    assert.deepEqual(second, first);
    assert.deepEqual(third, first);
  });

  test('are found in texts that were stored without packed words', async (t) => {
    const { database } = await setup(t, 10);
    const search = (atOnceMax: number) => {
      const words = new WordMirror(database, { atOnceMax });
      const searcher = new Searcher({ database, embedder: staticEmbedder(), words });
      return searcher.search({ caller, corpus, query: 'lamp 7' });
    };
    const hits = await search(10);
    const count = sql<{ count: number }>`SELECT COUNT(*) AS count FROM generation_words`;
    assert.equal((await database.run(count))[0]?.count, 20);
    const remove = sql`DELETE FROM generation_words WHERE generation_id > 5`;
    await database.write((transaction) => transaction.run(remove));
    assert.deepEqual(await search(10), hits);
    assert.deepEqual(await search(100), hits);
  });

  test('yield to the event loop while they are read', async (t) => {
    const { words } = await setup(t, 10);
    await words.prepare({ caller, corpus });
    await words.prepare({ caller, corpus });
    let isRead = false;
    const read = words.whenRead().then(() => {
      isRead = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isRead, false, 'an immediate came before the end');
    await read;
  });

  test('are held at once in a small corpus', async (t) => {
    const { words } = await setup(t, 20);
    assert.equal(await isHeld(words), true);
  });

  test('are given up when the store is closed', async (t) => {
    const { words, close } = await setup(t, 10);
    await words.prepare({ caller, corpus });
    await words.prepare({ caller, corpus });
    await close();
    await words.whenRead();
    // If it were still being read, this failure would not be reported.
    await assert.rejects(
      words.use(
        { caller, corpus },
        () => ['lamp'],
        () => undefined,
      ),
    );
  });
});
