/** The stores that the contract suites run on. */
import { join } from 'node:path';
import { item } from '../../src/kernel/item.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { realWorld } from '../../src/world.ts';
import { type OpenStore, StoreFixture } from './store-fixture.ts';
import { makeDirectory, removeDirectory } from './temporary.ts';

export const openSqliteFile: OpenStore = async (t) => {
  const directory = makeDirectory();
  const path = join(directory, 'pawl.db');
  const openAnother = async (): Promise<Database> => openSqlite({ path, world: realWorld() });
  const remove = (): void => removeDirectory(directory);
  return migrated(new StoreFixture(t, { database: await openAnother(), openAnother, remove }));
};

export const openSqliteMemory: OpenStore = async (t) => {
  const database = openSqlite({ path: ':memory:', world: realWorld() });
  return migrated(new StoreFixture(t, { database }));
};

async function migrated(store: StoreFixture): Promise<StoreFixture> {
  await migrate(store.database, item);
  return ready(store);
}

/** With a worker, so that an item which is claimed belongs to somebody. */
async function ready(store: StoreFixture): Promise<StoreFixture> {
  await store.register('worker', 1000);
  return store;
}
