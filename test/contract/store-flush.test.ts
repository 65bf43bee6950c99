/** The embedded store acknowledges a write only after its log is on disk. */
import assert from 'node:assert/strict';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realWorld } from '../../src/app/world.ts';
import { toFailure } from '../../src/kernel/failure/failure.ts';
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
  assert.deepEqual(await texts(), ['first', 'second', 'third', 'fourth', 'fifth']);
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
  const isRefused = (thrown: unknown) => toFailure(thrown).code === 'storage_failed';
  await assert.rejects(store('lost?'), isRefused);
  prototype.datasync = flush;
  await assert.rejects(store('too early'), isRefused);
  await failing.close();
  const again = openSqlite({ path, world: realWorld() });
  await again.write((transaction) => transaction.run(insert, { text: 'kept' }));
  assert.equal((await again.run(list)).at(-1)?.text, 'kept');
  await again.close();
});
