/** Indexes of large corpora in files: read by the next process, and never instead of the store. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Cleanup, makeDirectory, removeDirectory } from '../../../test/support/temporary.ts';
import { packageVersion } from '../../app/version.ts';
import { realWorld } from '../../app/world.ts';
import { open } from '../../index.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { staticEmbedder } from '../../provider/embedding/static-embedder.ts';
import type { Database } from '../../store/driver/database.ts';
import { openSqlite } from '../../store/driver/sqlite.ts';
import { sql } from '../../store/driver/statement.ts';
import { Searcher } from '../search.ts';
import { Mirror } from '../vector/mirror.ts';
import { WordMirror } from '../word/word-mirror.ts';
import { SavedCopies } from './saved-copies.ts';

const caller = 'local';
const corpus = 'handbook';
const chunksMin = 10;
const lamp = (n: number) => ({ id: `d${n}`, text: `Lamp ${n} is lit.` });

interface ProcessOptions {
  readonly version?: string;
  /** Later than the clock of the machine. */
  readonly aheadMs?: number;
}

/** A store of 20 documents, and processes that search it. */
async function setup(t: Cleanup, { documents = 20 } = {}) {
  const data = makeDirectory();
  const processes: { end(): Promise<void> }[] = [];
  t.after(async () => {
    // A process may still be saving.
    for (const each of processes) await each.end();
    removeDirectory(data);
  });
  const folder = join(data, 'index');
  const change = async <T>(work: (pawl: Awaited<ReturnType<typeof open>>) => Promise<T>) => {
    const pawl = await open({ data });
    await work(pawl).finally(() => pawl.close());
  };
  const ingest = (...added: { id: string; text: string }[]) =>
    change(async (pawl) => (await pawl.ingest(added, { corpus })).wait());
  await ingest(...Array.from({ length: documents }, (_, n) => lamp(n)));

  function start({ version = packageVersion(), aheadMs = 0 }: ProcessOptions = {}) {
    const { database, rows, close } = countedStore(data, aheadMs);
    const errors: string[] = [];
    const onError = (what: string) => void errors.push(what);
    const saved = new SavedCopies({ folder, database, version, onError, chunksMin });
    processes.push({ end: () => saved.close().then(close) });
    const mirror = new Mirror(database, { saved });
    const words = new WordMirror(database, { atOnceMax: chunksMin - 1, saved });
    const embedder = staticEmbedder();
    const searcher = new Searcher({ database, embedder, mirror, words, saved });
    const search = (query = 'lamp 7') =>
      searcher.search({ caller, corpus, query, topK: 30, explain: true });
    return { database, rows, saved, searcher, search, errors, close };
  }

  /** In another process: what a search finds without files. */
  async function searchStore(query?: string) {
    const { database, close } = countedStore(data, 0);
    const searcher = new Searcher({ database, embedder: staticEmbedder() });
    const request = { caller, corpus, query: query ?? 'lamp 7', topK: 30, explain: true };
    return searcher.search(request).finally(close);
  }

  /** Searches, and saves the indexes. */
  async function save(options?: ProcessOptions) {
    const { search, searcher, close } = start(options);
    const hits = await search();
    await searcher.keep();
    await close();
    return hits;
  }
  const files = () => (existsSync(folder) ? readdirSync(folder).sort() : []);
  return { data, folder, change, ingest, start, save, searchStore, files };
}

/** The store, with the number of rows that searches read of its words and vectors. */
function countedStore(data: string, aheadMs: number) {
  const store = openSqlite({ path: join(data, 'pawl.db'), world: realWorld() });
  const rows = { words: 0, vectors: 0 };
  const database: Database = Object.create(store, {
    early: { get: () => database },
    dialect: { value: store.dialect },
    now: { value: () => store.now() + aheadMs },
    flushed: { value: () => store.flushed() },
    write: { value: (work: never) => store.write(work) },
    run: {
      value: async (...asked: Parameters<Database['run']>) => {
        const read = await store.early.run(...asked);
        if (/FROM generation_words/.test(asked[0].text)) rows.words += read.length;
        if (/FROM vectors[\s\S]*GROUP BY/.test(asked[0].text)) rows.vectors += read.length;
        return read;
      },
    },
  });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= store.close();
    return closed;
  };
  return { database, rows, close };
}

const textsOf = (hits: readonly { text: string }[]) => hits.map(({ text }) => text).sort();

describe('a saved index', () => {
  test('spares the next process all rows, and finds the same', async (t) => {
    const { start, save, files } = await setup(t);
    const first = await save();
    assert.equal(first[0]?.text, 'Lamp 7 is lit.');
    assert.equal(files().length, 2, 'vectors and words');
    const { rows, search } = start();
    assert.deepEqual(await search(), first);
    assert.deepEqual(await search(), first);
    assert.deepEqual(rows, { words: 0, vectors: 0 });
  });

  test('is not made for a small corpus', async (t) => {
    const { save, files } = await setup(t, { documents: chunksMin - 1 });
    await save();
    assert.deepEqual(files(), []);
  });

  test('is followed by what was added, replaced and deleted since', async (t) => {
    const { start, save, searchStore, change, ingest } = await setup(t);
    const [hit] = await save();
    await ingest({ id: 'd3', text: 'The lamp broke.' }, { id: 'new', text: 'A lamp for sale.' });
    await change((pawl) => pawl.deleteDocument(hit?.documentId ?? ''));
    const { search, rows } = start();
    const found = await search();
    assert.deepEqual(textsOf(found), textsOf(await searchStore()));
    assert.ok(found.some(({ text }) => text === 'A lamp for sale.'));
    for (const gone of ['Lamp 7 is lit.', 'Lamp 3 is lit.']) {
      assert.ok(!found.some(({ text }) => text === gone), gone);
    }
    // Too much has changed for the words; they are scanned.
    assert.equal(rows.vectors, 2, 'only new vectors are read');
  });

  test('spares a search all but the few documents that changed', async (t) => {
    const { start, save, ingest } = await setup(t, { documents: 100 });
    await save();
    await ingest({ id: 'd3', text: 'The lamp broke.' });
    const { search, rows } = start();
    assert.equal((await search('broke'))[0]?.text, 'The lamp broke.');
    assert.deepEqual(rows, { words: 1, vectors: 1 });
  });

  test('is written again after many changes', async (t) => {
    const { start, save, ingest } = await setup(t);
    await save();
    await ingest({ id: 'new', text: 'A lamp for sale.' });
    await save();
    const { search, rows } = start();
    assert.equal((await search()).length, 21);
    assert.deepEqual(rows, { words: 0, vectors: 0 });
  });

  test('is not read by another version', async (t) => {
    const { start, save } = await setup(t);
    const hits = await save();
    const { search, rows } = start({ version: 'other' });
    assert.deepEqual(await search(), hits);
    assert.ok(rows.words > 0 && rows.vectors > 0);
  });

  test('is removed if it is damaged, and the store is read', async (t) => {
    const { folder, start, save, files } = await setup(t);
    const hits = await save();
    const names = files();
    for (const [index, name] of names.entries()) {
      const bytes = readFileSync(join(folder, name));
      const at = index === 0 ? bytes.length >> 1 : bytes.length - 5;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(join(folder, name), bytes);
    }
    const { search, searcher, rows } = start();
    assert.deepEqual(await search(), hits);
    assert.ok(rows.words > 0 && rows.vectors > 0);
    await searcher.keep();
    assert.deepEqual(files(), names, 'and written again');
  });

  test('is not read if its end is missing', async (t) => {
    const { folder, start, save, files } = await setup(t);
    const hits = await save();
    for (const name of files()) {
      const bytes = readFileSync(join(folder, name));
      writeFileSync(join(folder, name), bytes.subarray(0, bytes.length - 100));
    }
    assert.deepEqual(await start().search(), hits);
  });

  test('is not read by an older version of the store that went another way', async (t) => {
    const { data, start, save, ingest } = await setup(t);
    const older = join(data, 'older.db');
    copyFileSync(join(data, 'pawl.db'), older);
    await ingest({ id: 'new', text: 'A lamp for sale.' });
    await save();
    copyFileSync(older, join(data, 'pawl.db'));
    await ingest({ id: 'new', text: 'The heron waits.' });
    const { search, rows } = start();
    assert.equal((await search('heron'))[0]?.text, 'The heron waits.');
    assert.ok(!(await search('lamp')).some(({ text }) => text === 'A lamp for sale.'));
    assert.equal(rows.vectors, 21);
  });

  test('is not written if the index changes meanwhile', async (t) => {
    const { start, files } = await setup(t);
    const { saved } = start();
    const of = { caller, corpus, kind: 'words' };
    const copy = { size: chunksMin, version: 1, pieces, restore: async () => undefined };
    function* pieces() {
      yield new Uint8Array(8);
      copy.version += 1;
      yield new Uint8Array(8);
    }
    saved.saveSoon(of, copy, 0);
    await saved.whenSaved();
    assert.deepEqual(files(), []);
  });

  test('that cannot be written is reported, and the search succeeds', async (t) => {
    const { folder, start, searchStore } = await setup(t);
    writeFileSync(folder, '');
    const { search, searcher, errors } = start();
    assert.deepEqual(await search(), await searchStore());
    await searcher.keep();
    assert.deepEqual(new Set(errors), new Set(['reading a saved index', 'saving an index']));
  });
});

describe('the sweep of saved indexes', () => {
  test('keeps what nothing was removed from', async (t) => {
    const { start, save, files } = await setup(t);
    await save();
    await start({ aheadMs: 2 * limits.search.savedAgeMsMax }).saved.sweep();
    assert.equal(files().length, 2);
  });

  test('removes what keeps a deleted document', async (t) => {
    const { start, save, change, files } = await setup(t);
    const [hit] = await save();
    await change((pawl) => pawl.deleteDocument(hit?.documentId ?? ''));
    await start().saved.sweep();
    assert.deepEqual(files(), []);
  });

  test('removes what keeps a replaced text, after a day', async (t) => {
    const { start, save, ingest, files } = await setup(t);
    await save();
    await ingest({ id: 'd3', text: 'The lamp broke.' });
    await start().saved.sweep();
    assert.equal(files().length, 2);
    await start({ aheadMs: limits.search.savedAgeMsMax + 1 }).saved.sweep();
    assert.deepEqual(files(), []);
  });

  test('removes the files of another history and of another version', async (t) => {
    const { start, save, files } = await setup(t);
    await save();
    const { database, saved } = start();
    const forget = sql`UPDATE events SET at = at + 1`;
    await database.write((transaction) => transaction.run(forget));
    await saved.sweep();
    assert.deepEqual(files(), []);
    await save();
    await start({ version: 'other' }).saved.sweep();
    assert.deepEqual(files(), []);
  });

  test('runs when a short command ends', async (t) => {
    const { start, save, change, files } = await setup(t);
    const [hit] = await save();
    await change((pawl) => pawl.deleteDocument(hit?.documentId ?? ''));
    await start().saved.close();
    assert.deepEqual(files(), []);
  });
});
