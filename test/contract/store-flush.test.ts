/** The embedded store acknowledges a write only after its log is on disk. */
import assert from 'node:assert/strict';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realWorld } from '../../src/app/world.ts';
import { open as openPawl } from '../../src/index.ts';
import { toFailure } from '../../src/kernel/failure/failure.ts';
import { staticEmbedder } from '../../src/provider/embedding/static-embedder.ts';
import { Searcher } from '../../src/search/search.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { openSqlite } from '../../src/store/driver/sqlite.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { makeDirectory, removeDirectory } from '../support/temporary.ts';

const create = sql`CREATE TABLE IF NOT EXISTS notes (text TEXT)`;
const insert = sql`INSERT INTO notes (text) VALUES (:text)`;
const list = sql<{ text: string }>`SELECT text FROM notes ORDER BY rowid`;

const directory = makeDirectory();
const database = openSqlite({ path: join(directory, 'pawl.db'), world: realWorld() });
const write = (text: string) => database.write((transaction) => transaction.run(insert, { text }));
const texts = async (): Promise<string[]> => (await database.run(list)).map(({ text }) => text);

let prototype: FileHandle;
let flush: FileHandle['datasync'];

before(async () => {
  // All open files share one class, which Node does not export.
  const file = await open(fileURLToPath(import.meta.url));
  prototype = Object.getPrototypeOf(file);
  flush = prototype.datasync;
  await file.close();
  await database.write((transaction) => transaction.run(create));
});
afterEach(() => {
  prototype.datasync = flush;
});
after(async () => {
  await database.close();
  removeDirectory(directory);
});

function isRefused(thrown: unknown): boolean {
  return toFailure(thrown).code === 'storage_failed';
}

/** The same database, which tells when somebody waits for the disk. */
function watchFlushed(inner: Database, tell: () => void): Database {
  return {
    dialect: inner.dialect,
    commitsMax: inner.commitsMax,
    run: (statement, parameters) => inner.run(statement, parameters),
    write: (work) => inner.write(work),
    now: () => inner.now(),
    measureClock: () => inner.measureClock(),
    close: () => inner.close(),
    get early() {
      return watchFlushed(inner.early, tell);
    },
    flushed: () => {
      tell();
      return inner.flushed();
    },
  };
}

/** The disk accepts nothing until released. */
function holdDisk(): { readonly asked: Promise<void>; readonly letGo: () => void } {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  prototype.datasync = async function (this: FileHandle): Promise<void> {
    asked.resolve();
    await held.promise;
    await flush.call(this);
  };
  return { asked: asked.promise, letGo: held.resolve };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const unsettled = Symbol('unsettled');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(unsettled)])) !== unsettled;
}

test('neither writers nor readers see a write before the disk has it', async () => {
  const { asked, letGo } = holdDisk();
  const writing = write('first');
  await asked;
  const reading = texts();
  assert.deepEqual([await isSettled(writing), await isSettled(reading)], [false, false]);
  letGo();
  await writing;
  assert.deepEqual(await reading, ['first']);
});

test('early reads see a write before the disk has it, `flushed` waits for it', async () => {
  const { asked, letGo } = holdDisk();
  const writing = write('early');
  await asked;
  const rows = await database.early.run(list);
  assert.equal(rows.at(-1)?.text, 'early');
  const flushed = database.flushed();
  assert.equal(await isSettled(flushed), false);
  letGo();
  await Promise.all([writing, flushed]);
});

test('a search waits for the disk once, and shows nothing before', async () => {
  const data = join(directory, 'searched');
  const pawl = await openPawl({ data });
  await (await pawl.ingest([{ id: 'one', text: 'The heron waits.' }], { corpus: 'a' })).wait();
  await pawl.close();
  const store = openSqlite({ path: join(data, 'pawl.db'), world: realWorld() });
  await store.write((transaction) => transaction.run(create));
  const hasRead = Promise.withResolvers<void>();
  const watched = watchFlushed(store, hasRead.resolve);
  const searcher = new Searcher({ database: watched, embedder: staticEmbedder() });
  const note = (text: string) => store.write((transaction) => transaction.run(insert, { text }));

  const first = holdDisk();
  const writing = note('first');
  await first.asked;
  const searching = searcher.search({ caller: 'local', corpus: 'a', query: 'heron' });
  await Promise.race([hasRead.promise, searching]);
  assert.equal(await isSettled(searching), false);

  // A later write is none of the search's business.
  const second = holdDisk();
  const writingMore = note('second');
  first.letGo();
  await Promise.all([writing, second.asked]);
  assert.deepEqual(
    (await searching).map(({ text }) => text),
    ['The heron waits.'],
  );
  second.letGo();
  await writingMore;
  await store.close();
});

test('what the disk has refused is not shown', async () => {
  const path = join(directory, 'refusing.db');
  const refusing = openSqlite({ path, world: realWorld() });
  await refusing.write((transaction) => transaction.run(create));
  prototype.datasync = async () => {
    throw new Error('it said EIO');
  };
  const writing = refusing.write((transaction) => transaction.run(insert, { text: 'lost?' }));
  await assert.rejects(writing);
  await assert.rejects(refusing.flushed(), isRefused);
  await assert.rejects(refusing.run(list), isRefused);
  await refusing.close();
});

test('writes that arrive while the disk is busy share the next flush', async () => {
  const { asked, letGo } = holdDisk();
  const writing = [write('second')];
  await asked;
  let flushes = 0;
  const held = prototype.datasync;
  prototype.datasync = function (this: FileHandle): Promise<void> {
    flushes++;
    return held.call(this);
  };
  writing.push(write('third'), write('fourth'), write('fifth'));
  letGo();
  await Promise.all(writing);
  assert.equal(flushes, 1);
  assert.deepEqual(await texts(), ['first', 'early', 'second', 'third', 'fourth', 'fifth']);
});

test('a failed flush is the last one until the store is opened again', async () => {
  const path = join(directory, 'failing.db');
  const failing = openSqlite({ path, world: realWorld() });
  await failing.write((transaction) => transaction.run(create));
  const error = Object.assign(new Error('it said EIO'), { code: 'EIO' });
  prototype.datasync = async () => {
    throw error;
  };
  const store = (text: string) => failing.write((transaction) => transaction.run(insert, { text }));
  await assert.rejects(store('lost?'), isRefused);
  prototype.datasync = flush;
  await assert.rejects(store('too early'), isRefused);
  await failing.close();
  const again = openSqlite({ path, world: realWorld() });
  await again.write((transaction) => transaction.run(insert, { text: 'kept' }));
  assert.equal((await again.run(list)).at(-1)?.text, 'kept');
  await again.close();
});
