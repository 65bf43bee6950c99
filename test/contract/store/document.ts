import assert from 'node:assert/strict';
import { Commands } from '../../../src/engine/command/commands.ts';
import { WordPacker } from '../../../src/pipeline/word/word-packer.ts';
import { staticEmbedder } from '../../../src/provider/embedding/static-embedder.ts';
import { type Hit, Searcher } from '../../../src/search/search.ts';
import {
  countOfGeneration,
  indexGeneration,
  insertChunks,
  insertVectors,
  listChunks,
  pruneGeneration,
} from '../../../src/store/document/chunks.ts';
import { listVectors } from '../../../src/store/document/contents.ts';
import {
  deleteCorpus,
  deleteTexts,
  documentIdOf,
  ensureCorpus,
  type Flip,
  flip,
  getDocument,
  getText,
  hasCorpus,
  listDocuments,
  lockCorpus,
  staleGenerations,
  writeText,
} from '../../../src/store/document/documents.ts';
import { insertEntities } from '../../../src/store/document/entities.ts';
import { getCorpus, listCorpora } from '../../../src/store/document/views.ts';
import type { Database } from '../../../src/store/driver/database.ts';
import { listWords, writeWords } from '../../../src/store/search/words.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';
import { makeLatch } from '../../support/test-world.ts';
import { until } from '../../support/wait.ts';

const documentId = documentIdOf('ann', 'notes', 'page');

/** Submits the page again, and returns the id of its generation. */
async function newGeneration(store: StoreFixture): Promise<number> {
  const { ids } = await store.submit({ sources: [{ kind: 'inline', source: 'page' }] });
  return ids[0] as number;
}

async function write(
  store: StoreFixture,
  generation_id: number,
  words: string,
  page?: number,
): Promise<void> {
  const chunk = { key: `k${generation_id}`, ordinal: 0, heading: 'Head', text: words };
  const place = { startOffset: 0, endOffset: words.length, tokenCount: 1, page };
  await store.database.write(async (transaction) => {
    const text = { title: 'Page', language: null, body: words, content_hash: words, meta: '{}' };
    await writeText(transaction, { generation_id, document_id: documentId, ...text }, 1);
    await insertChunks(transaction, { documentId, generationId: generation_id }, [
      { ...chunk, ...place },
    ]);
    const vector = { ordinal: 0, model: 'm', vector: new Uint8Array([1]) };
    await insertVectors(transaction, generation_id, [vector]);
    const entity = { kind: 'name', name: 'A', aliases: [], mentions: 2, places: [] };
    await insertEntities(transaction, generation_id, { entities: [entity], relations: [] });
    const packed = new WordPacker().pack('Page', [{ ordinal: 0, heading: 'Head', text: words }]);
    await writeWords(transaction, generation_id, { words: packed, version: 1, language: 'en' });
  });
}

function flipTo(store: StoreFixture, generation_id: number): Promise<number | undefined> {
  const row: Flip = {
    id: documentId,
    caller: 'ann',
    corpus: 'notes',
    source: 'page',
    title: 'Page',
    language: null,
    generation_id,
    content_hash: `hash ${generation_id}`,
    chunk_count: 1,
    text_bytes: 10,
    kept_share: 1,
  };
  return store.database.write(async (transaction) => {
    indexGeneration(transaction, generation_id);
    return flip(transaction, row, store.world.now());
  });
}

function searchKeywords(
  database: Database,
  request: { caller: string; corpus: string; query: string },
): Promise<readonly Hit[]> {
  const searcher = new Searcher({ database, embedder: staticEmbedder() });
  return searcher.search({ ...request, mode: 'keyword' });
}

async function found(store: StoreFixture, query: string): Promise<string[]> {
  const request = { caller: 'ann', corpus: 'notes', query };
  return (await searchKeywords(store.database, request)).map(({ text }) => text);
}

export const documentTests: readonly StoreTest[] = [
  [
    'the first flip creates the document, the next ones count its generations',
    async (store) => {
      const first = await newGeneration(store);
      const second = await newGeneration(store);
      assert.equal(await flipTo(store, first), 1);
      assert.equal(await flipTo(store, second), 2);
      const document = await getDocument(store.database, documentId);
      assert.deepEqual([document?.generation, document?.generation_id], [2, second]);
    },
  ],
  [
    'an older generation never replaces a newer one, nor does one replace itself',
    async (store) => {
      const first = await newGeneration(store);
      const second = await newGeneration(store);
      await flipTo(store, second);
      const before = await getDocument(store.database, documentId);
      assert.equal(await flipTo(store, first), undefined);
      assert.equal(await flipTo(store, second), undefined);
      assert.deepEqual(await getDocument(store.database, documentId), before);
    },
  ],
  [
    'a chunk and its search result have the page on which it begins, or none',
    async (store) => {
      for (const page of [12, undefined]) {
        const generation = await newGeneration(store);
        await write(store, generation, 'a walrus', page);
        await flipTo(store, generation);
        const [chunk] = await listChunks(store.database, generation);
        const request = { caller: 'ann', corpus: 'notes', query: 'walrus' };
        const [hit] = await searchKeywords(store.database, request);
        assert.deepEqual([chunk?.page, hit?.page], [page ?? null, page ?? null]);
      }
    },
  ],
  [
    'search finds the current generation and nothing of another',
    async (store) => {
      const first = await newGeneration(store);
      const second = await newGeneration(store);
      await write(store, first, 'old walrus');
      await write(store, second, 'new walrus');
      assert.deepEqual(await found(store, 'walrus'), []);
      await flipTo(store, first);
      assert.deepEqual(await found(store, 'walrus'), ['old walrus']);
      await flipTo(store, second);
      assert.deepEqual(await found(store, 'walrus'), ['new walrus']);
      assert.deepEqual(await found(store, 'old'), []);
    },
  ],
  [
    'search sees one caller and one corpus, finds by stem, title and heading',
    async (store) => {
      const first = await newGeneration(store);
      await write(store, first, 'lanterns swimming');
      await flipTo(store, first);
      for (const query of ['lantern', 'swim', 'page', 'head']) {
        assert.equal((await found(store, query)).length, 1, query);
      }
      const other = { caller: 'bob', corpus: 'notes', query: 'lantern' };
      assert.deepEqual(await searchKeywords(store.database, other), []);
      const unknown = { caller: 'ann', corpus: 'nowhere', query: 'walrus' };
      await assert.rejects(searchKeywords(store.database, unknown), { code: 'corpus_unknown' });
    },
  ],
  [
    'nothing in a query is read as syntax, and no query within the limit is an error',
    async (store) => {
      const first = await newGeneration(store);
      await write(store, first, 'walrus');
      await flipTo(store, first);
      for (const query of ['"wal', "wal' OR 1", 'a:* & (b', 'NOT walrus', '***', '']) {
        await found(store, query);
      }
      assert.deepEqual(await found(store, 'NOT walrus'), ['walrus']);
      for (const query of ['x'.repeat(2000), 'ж'.repeat(2000), 'a '.repeat(1000)]) {
        assert.deepEqual(await found(store, query), [], query.slice(0, 3));
      }
      await assert.rejects(found(store, 'x'.repeat(2001)), { code: 'bad_request' });
    },
  ],
  [
    'a generation is stale when a newer one is current and no item works on it',
    async (store) => {
      const [first, second, third] = [
        await newGeneration(store),
        await newGeneration(store),
        await newGeneration(store),
      ];
      for (const id of [first, second, third]) await write(store, id, `words ${id}`);
      await flipTo(store, second);
      assert.deepEqual(await staleGenerations(store.database, documentId), []);
      await store.finish(await store.claimOne());
      assert.deepEqual(await staleGenerations(store.database, documentId), [first]);
    },
  ],
  [
    'the high bytes of vectors are concatenated, for all byte values',
    async (store) => {
      const [one, other] = [await newGeneration(store), await newGeneration(store)];
      const model = 'm';
      const vectorOf = (first: number) => Uint8Array.from({ length: 128 }, (_, n) => first + n);
      await store.database.write(async (transaction) => {
        await insertVectors(transaction, one, [
          { ordinal: 0, model, vector: vectorOf(0) },
          { ordinal: 7, model, vector: vectorOf(128) },
          { ordinal: 8, model, vector: new Uint8Array(9) },
          { ordinal: 9, model: 'another', vector: vectorOf(0) },
        ]);
        await insertVectors(transaction, other, [{ ordinal: 1, model, vector: vectorOf(200) }]);
      });
      const read = async (dimensions: number) => {
        const filter = { model, dimensions, generationIds: [one, other] };
        const rows = await listVectors(store.database, filter);
        return rows
          .sort((a, b) => a.generation_id - b.generation_id)
          .map(({ ordinals, vectors }) => [ordinals, Buffer.from(vectors).toString('hex')]);
      };
      const hex = (...parts: Uint8Array[]) => Buffer.concat(parts).toString('hex');
      assert.deepEqual(await read(128), [
        ['0,7', hex(vectorOf(0), vectorOf(128))],
        ['1', hex(vectorOf(200))],
      ]);
      const high = (first: number) => vectorOf(first).subarray(0, 64);
      assert.deepEqual(await read(64), [
        ['0,7', hex(high(0), high(128))],
        ['1', hex(high(200))],
      ]);
    },
  ],
  [
    'pruning removes a generation and leaves the others complete',
    async (store) => {
      const first = await newGeneration(store);
      const second = await newGeneration(store);
      await write(store, first, 'old walrus');
      await write(store, second, 'new walrus');
      await flipTo(store, second);
      await store.database.write(async (transaction) => {
        await pruneGeneration(transaction, first);
        await deleteTexts(transaction, [first]);
      });
      const parts = { chunks: 0, vectors: 0 };
      assert.deepEqual(await countOfGeneration(store.database, first), parts);
      assert.equal(await getText(store.database, first), undefined);
      assert.deepEqual(
        await store.rows(`SELECT * FROM entities WHERE generation_id = ${first}`),
        [],
      );
      const kept = await listWords(store.database, [first, second]);
      assert.deepEqual(
        kept.map(({ generation_id }) => generation_id),
        [second],
      );
      assert.deepEqual(await found(store, 'walrus'), ['new walrus']);
      const index = await store.rows<{ count: number }>(
        'SELECT COUNT(*) AS count FROM chunk_search',
      );
      assert.equal(index[0]?.count, 1);
    },
  ],
  [
    'a deleted document is gone with everything made of it',
    async (store) => {
      const first = await newGeneration(store);
      await write(store, first, 'walrus');
      await flipTo(store, first);
      await assert.rejects(store.commands.deleteDocument('bob', documentId), {
        code: 'document_unknown',
      });
      await store.commands.deleteDocument('ann', documentId);
      assert.equal(await getDocument(store.database, documentId), undefined);
      assert.equal(await getText(store.database, first), undefined);
      assert.deepEqual(await listWords(store.database, [first]), []);
      assert.deepEqual(await found(store, 'walrus'), []);
      assert.ok((await store.story()).includes('document_deleted'));
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'corpora and documents are listed, with what each caller has in them',
    async (store) => {
      const first = await newGeneration(store);
      await flipTo(store, first);
      await store.submit({ corpus: 'empty' });
      const listed = async (page: { caller: string; after: string; limit: number }) =>
        (await listCorpora(store.database, page)).map((row) => [
          row.name,
          row.documents,
          row.chunks,
        ]);
      const all = { caller: 'ann', after: '', limit: 9 };
      assert.deepEqual(await listed(all), [
        ['empty', 0, 0],
        ['notes', 1, 1],
      ]);
      assert.deepEqual(await listed({ ...all, limit: 1 }), [['empty', 0, 0]]);
      assert.deepEqual(await listed({ ...all, after: 'empty', limit: 1 }), [['notes', 1, 1]]);
      assert.deepEqual(await listed({ ...all, after: 'notes' }), []);
      assert.deepEqual(await listed({ ...all, caller: 'bob' }), []);
      const [, notes] = await listCorpora(store.database, all);
      const one = (caller: string, name: string) => getCorpus(store.database, { caller, name });
      assert.deepEqual(await one('ann', 'notes'), notes);
      assert.equal((await one('ann', 'empty'))?.documents, 0);
      assert.equal(await one('bob', 'notes'), undefined);
      const filter = { caller: 'ann', corpus: 'notes', after: '', limit: 9 };
      assert.equal((await listDocuments(store.database, filter)).length, 1);
      assert.deepEqual(await listDocuments(store.database, { ...filter, after: documentId }), []);
    },
  ],
  [
    'a corpus stays while any caller has a job that may add to it',
    async (store) => {
      const isThere = () => hasCorpus(store.database, 'notes');
      await store.submit({ caller: 'bob' });
      await store.commands.deleteCorpus('ann', 'notes');
      assert.equal(await isThere(), true);
      await store.fail(await store.claimOne());
      await store.commands.deleteCorpus('ann', 'notes');
      assert.equal(await isThere(), false);
    },
  ],
  [
    'a job submitted during the deletion of its corpus keeps the corpus',
    async (store) => {
      await flipTo(store, await newGeneration(store));
      await store.finish(await store.claimOne());
      const database: Database = Object.create(store.database);
      database.run = async (...asked) => {
        const rows = await store.database.run(...asked);
        const isLast = asked[0].text.includes('texts.meta') && rows.length === 0;
        if (isLast) await store.submit();
        return rows;
      };
      const { lifecycle, world } = store;
      const nobody = (): void => undefined;
      const told = { ring: nobody, revoke: nobody, revokeJob: nobody };
      const commands = new Commands({ database, lifecycle, world, ...told });
      await assert.rejects(commands.deleteCorpus('ann', 'notes'), { code: 'action_not_allowed' });
      assert.equal(await hasCorpus(store.database, 'notes'), true);
    },
  ],
  [
    'a corpus is not deleted during a submission that has not committed yet',
    async (store) => {
      const other = await store.openAnother?.();
      // An embedded store has one writer at a time.
      if (!other || store.database.dialect.name !== 'postgres') return;
      const { key } = await store.submit();
      await store.commands.cancel('ann', key);
      const submitted = makeLatch();
      let isOver = false;
      const isWaiting = async (): Promise<boolean> => {
        const [row] = await store.rows<{ count: number }>(
          `SELECT COUNT(*) AS count FROM pg_stat_activity
           WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return Number(row?.count) > 0;
      };
      const added = other.write(async (transaction) => {
        await ensureCorpus(transaction, 'notes', 1);
        submitted.open();
        const text = 'UPDATE jobs SET ended_at = NULL WHERE key = :key';
        await transaction.run({ text }, { key });
        await until(async () => isOver || isWaiting(), { what: 'the deletion to wait' });
      });
      await submitted.opened;
      const isGone = await store.database.write(async (transaction) => {
        await lockCorpus(transaction, 'notes');
        return deleteCorpus(transaction, 'notes');
      });
      isOver = true;
      await added;
      assert.equal(isGone, false);
    },
  ],
];
