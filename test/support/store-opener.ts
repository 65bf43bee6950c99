/** The stores that the contract suites run on. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { realWorld } from '../../src/app/world.ts';
import { item } from '../../src/kernel/lifecycle/item.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { migrate } from '../../src/store/driver/migrate.ts';
import { openSqlite } from '../../src/store/driver/sqlite.ts';
import { type OpenStore, StoreFixture } from './store-fixture.ts';
import { makeDirectory, removeDirectory } from './temporary.ts';

export const openSqliteFile = sqliteFiles();

/** Each is a copy of a migrated one: migrating takes longer than most tests. */
function sqliteFiles(): OpenStore {
  let making: Promise<string> | undefined;
  return async (t) => {
    making ??= makeMigrated();
    const directory = makeDirectory();
    const path = join(directory, 'pawl.db');
    copyFileSync(await making, path);
    const openAnother = async (): Promise<Database> => openSqlite({ path, world: realWorld() });
    const remove = (): void => removeDirectory(directory);
    return ready(new StoreFixture(t, { database: await openAnother(), openAnother, remove }));
  };
}

async function makeMigrated(): Promise<string> {
  const directory = makeDirectory();
  process.once('exit', () => removeDirectory(directory));
  const path = join(directory, 'pawl.db');
  const database = openSqlite({ path, world: realWorld() });
  await migrate(database, item);
  await database.close();
  return path;
}

export const openSqliteMemory: OpenStore = async (t) => {
  const database = openSqlite({ path: ':memory:', world: realWorld() });
  await migrate(database, item);
  return ready(new StoreFixture(t, { database }));
};

/** With a worker, so that a claimed item belongs to one. */
async function ready(store: StoreFixture): Promise<StoreFixture> {
  await store.register('worker', 1000);
  return store;
}
