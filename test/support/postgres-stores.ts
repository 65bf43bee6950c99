/**
 * A Postgres server for a test file, and a migrated, empty database of it for every test. Creating
 * one takes longer than most tests, so one that a test has neither altered nor filled is emptied
 * and reused: its rows are deleted, and its ids restart.
 */
import pg from 'pg';
import { item } from '../../src/kernel/lifecycle/item.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { migrate } from '../../src/store/driver/migrate.ts';
import { openPostgres } from '../../src/store/driver/postgres.ts';
import { type Postgres, type PostgresOptions, startPostgres } from './postgres.ts';
import { type OpenStore, StoreFixture } from './store-fixture.ts';

const shape = `SELECT
  (SELECT string_agg(table_name || '.' || column_name, ' ' ORDER BY table_name, column_name)
    FROM information_schema.columns WHERE table_schema = 'public') AS columns,
  (SELECT string_agg(pg_get_constraintdef(oid), ' ' ORDER BY conrelid, conname)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace) AS checks,
  (SELECT string_agg(version || item_check, ' ' ORDER BY version) FROM migrations) AS migrations,
  (SELECT COUNT(*) > 500 FROM items) AS is_swollen`;

const empty = `DO $$ DECLARE name TEXT; BEGIN
  FOR name IN SELECT tablename FROM pg_tables
    WHERE schemaname = 'public' AND tablename NOT IN ('migrations', 'sequence')
  LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
  UPDATE sequence SET value = 0;
  FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'
  LOOP EXECUTE format('ALTER SEQUENCE %I RESTART', name); END LOOP;
END $$`;

export class PostgresStores {
  readonly #options: PostgresOptions;
  readonly #free: string[] = [];
  #server: Postgres | undefined;
  #shape = '';

  constructor(options: PostgresOptions = {}) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#server = await startPostgres({ durable: false, ...this.#options });
    const url = await this.#make();
    this.#shape = await this.#ask(url, shape);
    this.#free.push(url);
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  readonly open: OpenStore = async (t) => {
    const url = this.#free.pop() ?? (await this.#make());
    const openAnother = (): Promise<Database> => openPostgres({ url });
    const remove = (): Promise<void> => this.#recycle(url);
    const store = new StoreFixture(t, { database: await openAnother(), openAnother, remove });
    await store.register('worker', 1000);
    return store;
  };

  /** A database without migrations. */
  async makeEmpty(): Promise<string> {
    if (!this.#server) throw new Error('the server has not been started');
    return this.#server.createDatabase();
  }

  async #make(): Promise<string> {
    const url = await this.makeEmpty();
    const database = await openPostgres({ url });
    await migrate(database, item);
    await database.close();
    return url;
  }

  async #recycle(url: string): Promise<void> {
    if ((await this.#ask(url, shape)) !== this.#shape) return;
    await this.#ask(url, empty);
    this.#free.push(url);
  }

  async #ask(url: string, text: string): Promise<string> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return JSON.stringify((await client.query(text)).rows);
    } finally {
      await client.end();
    }
  }
}
