/** A fresh environment per measurement: a directory, and a database or server if needed. */
import pg from 'pg';
import { type Postgres, startPostgres } from '../../test/support/postgres.ts';
import { startRedis } from '../../test/support/redis.ts';
import { makeDirectory, removeDirectory } from '../../test/support/temporary.ts';
import type { StoreKind } from './subjects.ts';

export interface Place {
  readonly directory: string;
  readonly url?: string;
  readonly port?: number;
  readonly serverPid?: number;
}

export interface Places {
  readonly postgres: string;
  use<T>(store: StoreKind, work: (place: Place) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Durable, and large enough that no checkpoint falls into a measurement. */
const settings = { shared_buffers: '512MB', max_wal_size: '4GB', checkpoint_timeout: '30min' };

export async function openPlaces(): Promise<Places> {
  const server = await startPostgres({ settings });
  const [row] = await query(server, 'SHOW server_version');
  return {
    postgres: String(row?.server_version),
    async use(store, work) {
      const directory = makeDirectory();
      try {
        if (store === 'Postgres') return await onPostgres(server, directory, work);
        if (store === 'Redis') return await onRedis(directory, work);
        return await work({ directory });
      } finally {
        removeDirectory(directory);
      }
    },
    close: () => server.stop(),
  };
}

async function onPostgres<T>(
  server: Postgres,
  directory: string,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const url = await server.createDatabase();
  await query(server, 'CHECKPOINT');
  try {
    return await work({ directory, url, serverPid: server.pid });
  } finally {
    await query(server, `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
  }
}

async function onRedis<T>(directory: string, work: (place: Place) => Promise<T>): Promise<T> {
  const server = await startRedis({ appendonly: true, settings: { appendfsync: 'everysec' } });
  try {
    return await work({ directory, port: server.port, serverPid: server.pid });
  } finally {
    await server.stop();
  }
}

async function query(server: Postgres, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
