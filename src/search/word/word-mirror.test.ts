import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Cleanup, temporaryDirectory } from '../../../test/support/temporary.ts';
import { open } from '../../index.ts';
import { staticEmbedder } from '../../provider/static-embedder.ts';
import { openSqlite } from '../../store/sqlite.ts';
import { realWorld } from '../../world.ts';
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
  const words = new WordMirror(database, atOnceMax);
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= database.close();
    return closed;
  };
  t.after(close);
  return { database, words, close };
}

describe('the words of a large corpus', () => {
  test('are read beside the searches, which the database answers until then', async (t) => {
    const { database, words } = await setup(t, 10);
    const searcher = new Searcher({ database, embedder: staticEmbedder(), words });
    const search = async () => {
      const hits = await searcher.search({ caller, corpus, query: 'lamp 7', mode: 'keyword' });
      return hits[0]?.text;
    };
    assert.equal(await words.use({ caller, corpus }, ({ size }) => size), undefined);
    assert.equal(await search(), 'Lamp 7 is lit.');
    await words.whenRead();
    assert.equal(await words.use({ caller, corpus }, ({ size }) => size), 20);
    assert.equal(await search(), 'Lamp 7 is lit.');
  });

  test('leave others their turn while they are read', async (t) => {
    const { words } = await setup(t, 10);
    await words.use({ caller, corpus }, () => undefined);
    let isRead = false;
    const read = words.whenRead().then(() => {
      isRead = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isRead, false, 'an immediate came before the end');
    await read;
  });

  test('are waited for where there are few', async (t) => {
    const { words } = await setup(t, 20);
    assert.equal(await words.use({ caller, corpus }, ({ size }) => size), 20);
  });

  test('are given up when the store is closed', async (t) => {
    const { words, close } = await setup(t, 10);
    await words.use({ caller, corpus }, () => undefined);
    await close();
    await words.whenRead();
    // Were it still being read, nobody would be told that it cannot be.
    await assert.rejects(words.use({ caller, corpus }, () => undefined));
  });
});
