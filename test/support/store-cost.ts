/**
 * What a store does, counted in its driver: statements, commits, round trips to a server, and bytes
 * that the database writes to its log. Counted, not timed, so that a busy machine changes nothing.
 */
import { statSync } from 'node:fs';
import { Socket } from 'node:net';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import pg from 'pg';
import type { StoreFixture } from './store-fixture.ts';

export interface Cost {
  readonly statements: number;
  readonly commits: number;
  /** Groups of statements sent before an answer was awaited; 0 without a server. */
  readonly roundTrips: number;
  /** Writes to sockets of a server, which are system calls; 0 without a server. */
  readonly writes: number;
  readonly bytes: number;
}

export interface CostMeter {
  /** What the work cost, divided by the number of documents. */
  perDocument(documents: number, work: () => Promise<void>): Promise<Cost>;
}

type Count = 'statements' | 'commits' | 'roundTrips' | 'writes';
type Method = (this: object, ...given: unknown[]) => unknown;

/** Every connection that is opened from here to the release of the store is counted. */
export async function meterOf(store: StoreFixture): Promise<CostMeter> {
  const counts: Record<Count, number> = { statements: 0, commits: 0, roundTrips: 0, writes: 0 };
  const add = (count: Count): void => {
    counts[count] += 1;
  };
  const isSqlite = store.database.dialect.name === 'sqlite';
  const restore = isSqlite ? countSqlite(add) : countPostgres(add);
  store.onRelease(async () => restore());
  const logBytes = isSqlite ? await sqliteLog(store) : postgresLog(store);
  return {
    async perDocument(documents, work) {
      const bytesBefore = await logBytes();
      const before = { ...counts };
      await work();
      const after = { ...counts };
      const bytes = (await logBytes()) - bytesBefore;
      return {
        statements: (after.statements - before.statements) / documents,
        commits: (after.commits - before.commits) / documents,
        roundTrips: (after.roundTrips - before.roundTrips) / documents,
        writes: (after.writes - before.writes) / documents,
        bytes: bytes / documents,
      };
    },
  };
}

function countSqlite(add: (count: Count) => void): () => void {
  const prepared: object = StatementSync.prototype;
  const undo = ['run', 'all'].map((name) => onCall(prepared, name, () => add('statements')));
  const database: object = DatabaseSync.prototype;
  undo.push(
    onCall(database, 'exec', (text) => {
      if (text === 'COMMIT') add('commits');
    }),
  );
  return () => undo.forEach((one) => void one());
}

function countPostgres(add: (count: Count) => void): () => void {
  const pending = new WeakMap<object, number>();
  const sockets = new WeakSet<object>();
  const prototype = pg.Client.prototype as unknown as Record<string, Method>;
  const own = prototype.query as Method;
  prototype.query = function query(...given) {
    const before = pending.get(this) ?? 0;
    sockets.add((this as pg.Client).connection.stream);
    if (given[0] === 'COMMIT') add('commits');
    else if (given[0] !== 'BEGIN') add('statements');
    if (before === 0) add('roundTrips');
    pending.set(this, before + 1);
    const end = (): void => void pending.set(this, (pending.get(this) ?? 1) - 1);
    const callback = given.at(-1);
    if (typeof callback === 'function') {
      const counted = (...answer: unknown[]): unknown => {
        end();
        return callback(...answer);
      };
      return own.apply(this, [...given.slice(0, -1), counted]);
    }
    const answer = own.apply(this, given) as Promise<unknown>;
    // The caller has this promise too, and handles its failure.
    answer.then(end, end);
    return answer;
  };
  const undo = ['_write', '_writev'].map((name) =>
    onCall(Socket.prototype, name, (_, socket) => {
      if (sockets.has(socket)) add('writes');
    }),
  );
  return () => {
    prototype.query = own;
    undo.forEach((one) => void one());
  };
}

type Called = (first: unknown, self: object) => void;

function onCall(target: object, name: string, called: Called): () => void {
  const methods = target as Record<string, Method>;
  const own = methods[name] as Method;
  methods[name] = function counted(...given) {
    called(given[0], this);
    return own.apply(this, given);
  };
  return () => {
    methods[name] = own;
  };
}

/** An open read keeps SQLite from starting its log again, so the file only grows. */
async function sqliteLog(store: StoreFixture): Promise<() => Promise<number>> {
  const [main] = await store.rows<{ file: string }>('PRAGMA database_list');
  const reader = new DatabaseSync(main?.file ?? '', { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT COUNT(*) FROM migrations').get();
  store.onRelease(async () => reader.close());
  return async () => statSync(`${main?.file}-wal`).size;
}

function postgresLog(store: StoreFixture): () => Promise<number> {
  const text = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS bytes";
  return async () => (await store.rows<{ bytes: number }>(text))[0]?.bytes ?? 0;
}
