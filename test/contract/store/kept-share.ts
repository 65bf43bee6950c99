import assert from 'node:assert/strict';
import {
  confirm,
  documentIdOf,
  flip,
  getDocument,
  listDocuments,
  partlyRead,
  remeasure,
  writeText,
} from '../../../src/store/document/documents.ts';
import { countPartlyRead, getCorpus, listCorpora } from '../../../src/store/document/views.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const place = { caller: 'ann', corpus: 'notes' };
const all = { ...place, after: '', limit: 9 };

/** Submits a document with this kept share. Returns the id of its item. */
async function read(store: StoreFixture, source: string, kept_share: number): Promise<number> {
  const { ids } = await store.submit({ sources: [{ kind: 'inline', source }] });
  const generation_id = ids[0] as number;
  const id = documentIdOf('ann', 'notes', source);
  const content = { title: source, language: null, content_hash: source };
  const sizes = { chunk_count: 1, text_bytes: 5, kept_share };
  await store.database.write(async (transaction) => {
    const text = { ...content, generation_id, document_id: id, body: source, meta: '{}' };
    await writeText(transaction, text, 1);
    await flip(transaction, { ...place, ...content, ...sizes, id, source, generation_id }, 1);
  });
  return generation_id;
}

async function partlyReadSources(store: StoreFixture, page = all): Promise<string[]> {
  const rows = await listDocuments(store.database, { ...page, partlyRead: true });
  return rows.map(({ source }) => source);
}

async function jobOf(store: StoreFixture, item: number) {
  const [row] = await store.rows<{ id: number; caller: string; corpus: string }>(
    `SELECT jobs.id, jobs.caller, jobs.corpus FROM jobs
     JOIN items ON items.job_id = jobs.id WHERE items.id = ${item}`,
  );
  assert.ok(row);
  return row;
}

async function planOf(store: StoreFixture): Promise<string> {
  const text = `SELECT id FROM documents WHERE corpus = 'notes' AND caller = 'ann'
    AND id > '' AND ${partlyRead} ORDER BY id LIMIT 9`;
  return store.database.write(async (transaction) => {
    const isPostgres = transaction.dialect.name === 'postgres';
    // A scan of so small a table costs less than any index.
    if (isPostgres) await transaction.run({ text: 'SET LOCAL enable_seqscan = off' });
    const explain = isPostgres ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
    return JSON.stringify(await transaction.run({ text: `${explain} ${text}` }));
  });
}

export const keptShareTests: readonly StoreTest[] = [
  [
    'documents below the threshold are listed and counted as read in part, the others are not',
    async (store) => {
      for (const [source, share] of Object.entries({ a: 0.5, b: 0.8, c: 1, d: 0.799 })) {
        await read(store, source, share);
      }
      await read(store, 'old', 0);
      await store.database.write((transaction) =>
        transaction.run({ text: "UPDATE documents SET kept_share = NULL WHERE source = 'old'" }),
      );
      assert.deepEqual((await partlyReadSources(store)).sort(), ['a', 'd']);
      const [first] = await partlyReadSources(store, { ...all, limit: 1 });
      const after = documentIdOf('ann', 'notes', first ?? '');
      assert.deepEqual([first, ...(await partlyReadSources(store, { ...all, after }))].sort(), [
        'a',
        'd',
      ]);
      assert.deepEqual(await partlyReadSources(store, { ...all, caller: 'bob' }), []);
      const corpus = await getCorpus(store.database, { caller: 'ann', name: 'notes' });
      assert.deepEqual([corpus?.documents, corpus?.documents_partly_read], [5, 2]);
      const [listed] = await listCorpora(store.database, { caller: 'ann', after: '', limit: 9 });
      assert.equal(listed?.documents_partly_read, 2);
    },
  ],
  [
    'documents that were read in part are found by their index',
    async (store) => {
      for (let index = 0; index < 50; index += 1) await read(store, `s${index}`, 0.5);
      assert.match(await planOf(store), /documents_partly_read/);
    },
  ],
  [
    'a fully read generation removes the document from the list',
    async (store) => {
      await read(store, 'a', 0.5);
      await read(store, 'a', 0.9);
      assert.deepEqual(await partlyReadSources(store), []);
    },
  ],
  [
    'a job counts the documents that it read in part, or found unchanged',
    async (store) => {
      const first = await read(store, 'a', 0.5);
      const other = await read(store, 'b', 1);
      const count = async (item: number) =>
        countPartlyRead(store.database, await jobOf(store, item));
      assert.deepEqual([await count(first), await count(other)], [1, 0]);
      const { ids } = await store.submit({ sources: [{ kind: 'inline', source: 'a' }] });
      const as_of = ids[0] as number;
      const row = { id: documentIdOf('ann', 'notes', 'a'), content_hash: 'a', as_of };
      await store.database.write((transaction) => confirm(transaction, row));
      assert.deepEqual([await count(first), await count(as_of)], [0, 1]);
    },
  ],
  [
    'the newest submission of an unchanged text sets the kept share',
    async (store) => {
      const as_of = await read(store, 'a', 1);
      const row = { id: documentIdOf('ann', 'notes', 'a'), content_hash: 'a', meta: '{"n":1}' };
      const measure = (change: { as_of: number; kept_share: number; content_hash?: string }) =>
        store.database.write((transaction) => remeasure(transaction, { ...row, ...change }));
      await measure({ as_of: as_of - 1, kept_share: 0.1 });
      await measure({ as_of, kept_share: 0.1, content_hash: 'other' });
      assert.equal((await getDocument(store.database, row.id))?.kept_share, 1);
      await measure({ as_of, kept_share: 0.25 });
      const [listed] = await listDocuments(store.database, { ...all, partlyRead: true });
      assert.deepEqual([listed?.kept_share, listed?.meta], [0.25, { n: 1 }]);
    },
  ],
];
