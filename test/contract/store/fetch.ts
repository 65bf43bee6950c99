import assert from 'node:assert/strict';
import type { Sweep, SweptBlobs } from '../../../src/blob/blob.ts';
import { sweepFetched } from '../../../src/engine/item/sweeper.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { addPages, crawlOf, markKnown, moveSite } from '../../../src/store/crawl/crawls.ts';
import {
  getFetch,
  pruneFetches,
  readPlace,
  usedBlobs,
  writeFetch,
} from '../../../src/store/crawl/fetches.ts';
import { getRobots, writeRobots } from '../../../src/store/crawl/robots.ts';
import { flip } from '../../../src/store/document/documents.ts';
import { currentValidators, writeValidators } from '../../../src/store/document/validators.ts';
import { getGateLimits, holdGate, setGateLimits } from '../../../src/store/item/gates.ts';
import { findOpenCrawl, getJob } from '../../../src/store/job/jobs.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const root = 'http://example.org/';
const crawl = {
  site: 'example.org',
  depthMax: 3,
  pagesMax: 4,
  include: ['/docs/**'],
  exclude: ['**'],
};

async function beginCrawl(store: StoreFixture): Promise<{ jobId: number; key: string }> {
  const { jobKey } = await store.commands.submit({
    caller: 'ann',
    corpus: 'notes',
    sources: [{ kind: 'url', source: root, gate: 'example.org' }],
    crawl,
  });
  const job = await getJob(store.database, jobKey);
  return { jobId: job?.id ?? 0, key: jobKey };
}

function find(store: StoreFixture, jobId: number, ...paths: string[]): Promise<number> {
  const pages = paths.map((path) => ({ url: root + path, gate: 'example.org', depth: 1 }));
  return store.database.write((transaction) =>
    addPages(transaction, { jobId, pages, now: store.world.now() }),
  );
}

export const fetchTests: readonly StoreTest[] = [
  [
    'a crawl makes one item of each page that it finds, up to its limit',
    async (store) => {
      const { jobId, key } = await beginCrawl(store);
      assert.equal(await find(store, jobId, 'a', 'b', 'a', ''), 2);
      assert.equal(await find(store, jobId, 'a', 'b', 'c', 'd', 'e'), 1);
      assert.equal(await find(store, jobId, 'f'), 0);
      const job = await store.job(key);
      assert.equal(job.type, 'crawl');
      assert.equal(job.items_total, 4);
      assert.equal((await store.rows('SELECT id FROM items')).length, 4);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'a crawl knows its pages, their depth, and its bounds',
    async (store) => {
      const { jobId } = await beginCrawl(store);
      await find(store, jobId, 'a');
      await store.database.write(async (transaction) => {
        await moveSite(transaction, { jobId, site: 'example.com' });
        await markKnown(transaction, { jobId, url: `${root}home`, depth: 0 });
      });
      assert.equal(await find(store, jobId, 'home'), 0);
      const found = await crawlOf(store.database, { jobId, url: `${root}a` });
      assert.deepEqual(found, { ...crawl, site: 'example.com', depth: 1 });
      assert.equal(await crawlOf(store.database, { jobId, url: `${root}z` }), undefined);
      const open = await findOpenCrawl(store.database, {
        caller: 'ann',
        corpus: 'notes',
        url: root,
      });
      assert.equal(open?.id, jobId);
    },
  ],
  [
    'the newest robots.txt of an origin is kept',
    async (store) => {
      const row = { origin: 'http://example.org', status: 200, body: 'Allow: /', fetched_at: 2 };
      await store.database.write((transaction) => writeRobots(transaction, row));
      await store.database.write((transaction) =>
        writeRobots(transaction, { ...row, body: 'older', fetched_at: 1 }),
      );
      assert.deepEqual({ ...(await getRobots(store.database, row.origin)) }, row);
    },
  ],
  [
    'the validators of a page do not count while its content is not the current one',
    async (store) => {
      const row = { document_id: 'd', as_of: 1, url: root, etag: '"1"', last_modified: null };
      await store.database.write((transaction) =>
        writeValidators(transaction, { ...row, fetched_at: 1 }),
      );
      assert.equal(await currentValidators(store.database, 'd'), undefined);
    },
  ],
  [
    'a held domain lets nothing through before its time',
    async (store) => {
      const name = 'example.org';
      const now = store.world.now();
      await store.database.write(async (transaction) => {
        await holdGate(transaction, { name, until: now + 60_000 });
        await holdGate(transaction, { name, until: now + 1000 });
        await setGateLimits(transaction, { name, concurrency: 1, intervalMs: 7 }, now);
      });
      assert.deepEqual(await getGateLimits(store.database, name), {
        concurrency: 1,
        intervalMs: 7,
      });
      await store.submit({ items: 2, gate: name });
      assert.deepEqual(await store.claim(10), []);
      store.world.skip(60_000);
      await store.wake();
      assert.equal((await store.claim(10)).length, 1);
    },
  ],
  [
    'fetched bytes are stored with their encoding, and their users are known',
    async (store) => {
      const small = new Uint8Array([1, 0, 255]);
      const known = { media_type: 'text/html', bytes: 3, charset: 'utf-8' };
      const row = { generation_id: 1, ...known, body: small, packed: null };
      await store.database.write(async (transaction) => {
        await writeFetch(transaction, { ...row, blob_key: 'a' });
        await writeFetch(transaction, { ...row, blob_key: 'b', charset: null, body: null });
        await writeFetch(transaction, { ...row, generation_id: 2, blob_key: 'b' });
      });
      assert.deepEqual(
        { ...(await getFetch(store.database, 1)) },
        { ...row, blob_key: 'b', charset: null, body: null },
      );
      assert.deepEqual([...((await getFetch(store.database, 2))?.body ?? [])], [...small]);
      assert.deepEqual(await usedBlobs(store.database, ['a', 'b', 'c']), new Set(['b']));
      assert.deepEqual(await usedBlobs(store.database, []), new Set());
    },
  ],
  [
    'the bytes of an upload are in use until its item is done',
    async (store) => {
      const input = { kind: 'blob', title: 'a.txt', body: 'a' } as const;
      const { itemIds } = await store.commands.submit({
        caller: 'ann',
        corpus: 'notes',
        sources: [{ kind: 'upload', source: 'upload:a.txt', input }],
      });
      const isUsed = async () => (await usedBlobs(store.database, ['a', 'b'])).has('a');
      const move = (step: string) =>
        store.database.write((transaction) => {
          const text = 'UPDATE items SET step = :step WHERE id = :id';
          return transaction.run({ text }, { id: itemIds[0] ?? 0, step });
        });
      assert.equal(await isUsed(), true);
      await move('failed');
      assert.equal(await isUsed(), true);
      await move('done');
      assert.equal(await isUsed(), false);
    },
  ],
  [
    'fetches of done items are removed unless their generation is the current one',
    async (store) => {
      const { ids } = await store.submit({ items: 4 });
      const [current = 0, unchanged = 0, failed = 0, open = 0] = ids;
      const about = { blob_key: 'a', media_type: 'text/html', bytes: 3, charset: null };
      const row = { ...about, body: null, packed: null };
      const steps = { [current]: 'done', [unchanged]: 'done', [failed]: 'failed' };
      await store.database.write(async (transaction) => {
        for (const generation_id of ids) await writeFetch(transaction, { ...row, generation_id });
        for (const [id, step] of Object.entries(steps)) {
          const text = 'UPDATE items SET step = :step, waits_on = NULL WHERE id = :id';
          await transaction.run({ text }, { id: Number(id), step });
        }
        const [item] = await transaction.run<{ document_id: string }>(
          { text: 'SELECT document_id FROM items WHERE id = :id' },
          { id: current },
        );
        const document = { caller: 'ann', corpus: 'notes', source: 's', title: null };
        const made = {
          language: null,
          content_hash: 'h',
          chunk_count: 1,
          text_bytes: 1,
          kept_share: 1,
        };
        const id = item?.document_id ?? '';
        await flip(transaction, { ...document, ...made, id, generation_id: current }, 1);
      });
      const sweep = () => store.database.write((transaction) => pruneFetches(transaction, 3));
      assert.equal(await sweep(), 1);
      assert.equal(await readPlace(store.database, 'fetches'), failed);
      assert.equal(await sweep(), 0);
      assert.equal(await readPlace(store.database, 'fetches'), 0);
      const rows = await store.rows<{ generation_id: number }>(
        'SELECT generation_id FROM fetches ORDER BY generation_id',
      );
      assert.deepEqual(
        rows.map(({ generation_id }) => generation_id),
        [current, failed, open],
      );
    },
  ],
  [
    'a sweep moves from one part of the blobs to the next, and stays while there is more',
    async (store) => {
      const { pruneBatchMax, blobGraceMs } = limits.loop;
      const swept: Sweep[] = [];
      const removals = [0, pruneBatchMax, 1, 0];
      const blobs: SweptBlobs = {
        parts: 2,
        sweep: async (sweep) => removals[swept.push(sweep) - 1] ?? 0,
      };
      for (const expected of removals) {
        assert.equal(await sweepFetched(store.database, blobs), expected);
      }
      assert.deepEqual(
        swept.map(({ part }) => part),
        [0, 1, 1, 0],
      );
      assert.ok(swept.every(({ before }) => before <= store.database.now() - blobGraceMs));
      assert.equal(await sweepFetched(store.database, undefined), 0);
    },
  ],
];
