/** Documents that come with their text and chunks. */
import assert from 'node:assert/strict';
import { defineLifecycle, stepTable } from '../../../src/kernel/lifecycle/item.ts';
import { listSameBytes } from '../../../src/store/crawl/fetches.ts';
import { documentIdOf, flip, hasCorpus } from '../../../src/store/document/documents.ts';
import { insertParsed, type ParsedSource } from '../../../src/store/job/submit-parsed.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

function parsed(name: string, texts: readonly string[]): ParsedSource {
  const body = texts.join('\n');
  let offset = 0;
  const chunks = texts.map((text, ordinal) => {
    const startOffset = offset;
    offset += text.length + 1;
    const endOffset = startOffset + text.length;
    const key = `${name}-${ordinal}`;
    return { key, ordinal, heading: '', text, startOffset, endOffset, tokenCount: 1 };
  });
  return {
    kind: 'upload',
    source: `upload:${name}`,
    title: name,
    language: 'en',
    contentHash: `hash of ${name}`,
    meta: '{}',
    blobKey: `blob of ${name}`,
    mediaType: 'text/plain',
    bytes: body.length,
    durationMs: { fetched: 1, content_extracted: 2, chunked: 3 },
    read: async () => ({ body, chunks }),
  };
}

const both = [parsed('one', ['first', 'second']), parsed('two', ['third'])];

function submission(sources: readonly ParsedSource[], check: () => void = () => undefined) {
  return { key: 'job', caller: 'me', corpus: 'notes', priority: 0, sources, check };
}

async function counts(store: StoreFixture): Promise<Record<string, number>> {
  const tables = ['jobs', 'items', 'turns', 'texts', 'chunks', 'fetches', 'events', 'corpora'];
  const found = tables.map(async (table): Promise<[string, number]> => {
    const [row] = await store.rows<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`);
    return [table, Number(row?.count)];
  });
  return Object.fromEntries(await Promise.all(found));
}

export const parsedTests: readonly StoreTest[] = [
  [
    'parsed documents are stored with their sources, text and chunks, and are queued',
    async (store) => {
      const ids = await store.commands.submitParsed(submission(both));
      assert.deepEqual(await counts(store), {
        jobs: 1,
        items: 2,
        turns: 2,
        texts: 2,
        chunks: 3,
        fetches: 2,
        events: 7,
        corpora: 1,
      });
      const item = await store.item(ids[0]);
      assert.equal(item.step, 'chunked');
      assert.equal(item.waits_on, 'turn');
      assert.equal(item.source, 'upload:one');
      const job = await store.job('job');
      assert.equal(job.state, 'queued');
      assert.equal(job.items_total, 2);
      // Nothing of it is searchable yet.
      assert.equal(job.chunks_indexed, 0);
      assert.ok(job.tokens_estimated > 0);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'parsed documents are split by their item if the corpus has chunk sizes of its own',
    async (store) => {
      const key = { caller: 'me', corpus: 'notes' };
      await store.commands.rechunk({ ...key, change: { tokensMax: 64 } });
      const ids = await store.commands.submitParsed(submission(both));
      assert.equal((await store.item(ids[0])).step, 'content_extracted');
      assert.equal((await counts(store)).chunks, 0);
      const rows = await store.rows<{ chunking: string }>('SELECT chunking FROM texts');
      assert.deepEqual(new Set(rows.map(({ chunking }) => chunking)), new Set(['64/31']));
    },
  ],
  [
    'a parsed document starts with the step after its text',
    async (store) => {
      await store.commands.submitParsed(submission(both));
      const after = (await store.events()).length;
      const row = await store.claimOne();
      assert.deepEqual(await store.story(after), [
        'job_started',
        'step_started embedded',
        'step_started entity_extracted',
      ]);
      await store.finish(row);
      await store.finish(await store.claimOne());
      const job = await store.job('job');
      assert.equal(job.state, 'succeeded');
      assert.equal(job.items_done, 2);
    },
  ],
  [
    'the history says that the earlier steps were done, and how long they took',
    async (store) => {
      const [id] = await store.commands.submitParsed(submission(both));
      const events = (await store.events()).filter(({ itemId }) => itemId === id);
      assert.deepEqual(
        events.map(({ kind, step, detail }) => [kind, step, detail?.duration_ms]),
        [
          ['step_completed', 'fetched', 1],
          ['step_completed', 'content_extracted', 2],
          ['step_completed', 'chunked', 3],
        ],
      );
    },
  ],
  [
    'a check that refuses in the end leaves nothing',
    async (store) => {
      const refuse = () => {
        throw new Error('too late');
      };
      await assert.rejects(store.commands.submitParsed(submission(both, refuse)), /too late/);
      assert.deepEqual(new Set(Object.values(await counts(store))), new Set([0]));
    },
  ],
  [
    'an invalid document fails the whole batch',
    async (store) => {
      const lost = { ...parsed('three', ['x']), read: () => Promise.reject(new Error('gone')) };
      const job = submission([...both, lost]);
      await assert.rejects(store.commands.submitParsed(job), /gone/);
      assert.deepEqual(new Set(Object.values(await counts(store))), new Set([0]));
    },
  ],
  [
    'current content is found by its bytes, only in its corpus and for its caller',
    async (store) => {
      const [id] = await store.commands.submitParsed(submission(both));
      const find = (corpus: string, caller: string) =>
        listSameBytes(store.database, { caller, corpus, blobKeys: ['blob of one', 'blob of two'] });
      assert.deepEqual(await find('notes', 'me'), [], 'nothing is current yet');
      const source = 'upload:one';
      const current = {
        ...{ caller: 'me', corpus: 'notes', source, title: 'one', language: 'en' },
        ...{ content_hash: 'hash of one', chunk_count: 2, text_bytes: 12, kept_share: 1 },
        id: documentIdOf('me', 'notes', source),
        generation_id: Number(id),
      };
      await store.database.write((transaction) => flip(transaction, current, store.world.now()));
      const found = await find('notes', 'me');
      assert.deepEqual(
        found.map((row) => ({ ...row })),
        [{ source, blob_key: 'blob of one' }],
      );
      assert.deepEqual(await find('other', 'me'), []);
      assert.deepEqual(await find('notes', 'you'), []);
      assert.equal(await hasCorpus(store.database, 'notes'), true);
      assert.equal(await hasCorpus(store.database, 'other'), false);
    },
  ],
  [
    'if a step was added before the text, the item starts there',
    async (store) => {
      const steps = stepTable.map((row) =>
        row.step === 'content_extracted' ? { ...row, after: ['fetched', 'scanned'] } : row,
      );
      const scanned = { step: 'scanned', bit: 9, after: ['fetched'], stage: 'scraping' as const };
      const lifecycle = defineLifecycle([...steps.slice(0, 1), scanned, ...steps.slice(1)]);
      const [id] = await store.database.write((transaction) =>
        insertParsed(transaction, submission(both), { lifecycle, database: store.world }),
      );
      assert.equal((await store.item(id)).step, 'fetched');
      const { texts, chunks, fetches } = await counts(store);
      assert.deepEqual({ texts, chunks, fetches }, { texts: 0, chunks: 0, fetches: 2 });
    },
  ],
];
