/**
 * Postgres. Transactions are pipelined on pooled connections; leases are judged by the server's
 * clock, which is measured against this machine's monotonic one, so that a jump of the local clock
 * moves nothing.
 */
import type { Pool, PoolClient } from 'pg';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Database, Transaction } from './database.ts';
import { DeferredStatements } from './deferred-statements.ts';
import { postgresDialect } from './dialect.ts';
import {
  type Columns,
  type ColumnType,
  type Compiled,
  compile,
  compileRows,
  missing,
  type Parameters,
  parametersOf,
  type RowOf,
  type RowsStatement,
  type Statement,
  type Value,
} from './statement.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly connectionsMax?: number;
}

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax ?? limits.store.connectionsMax,
    connectionTimeoutMillis: limits.store.connectTimeoutMs,
    types: { getTypeParser: (id, format) => parsers[id] ?? pg.types.getTypeParser(id, format) },
    pipeline: true,
    options: sessionSettings,
  } as ConstructorParameters<typeof pg.Pool>[0]);
  // A connection that breaks while idle is replaced on the next use; nothing was lost with it.
  pool.on('error', () => undefined);
  // If the server ends a connection in use, its statement fails, and so does its caller.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  const database = new Postgres(pool);
  try {
    await database.measureClock();
  } catch (error) {
    await pool.end();
    throw refused(error);
  }
  return database;
}

/** A password that is wrong, a user and a database that are not there: no time mends these. */
const refusals = new Set(['28P01', '28000', '3D000']);

function refused(error: unknown): unknown {
  const { code = '', message } = error as Error & { code?: string };
  if (!refusals.has(code)) return error;
  const advice = 'correct the address, or create what lacks';
  const text = `Postgres at PAWL_DATABASE_URL: ${message}; ${advice}`;
  return new Failure('usage_error', text, { cause: error });
}

/**
 * Every statement here is served by an index. Planned while its table is still empty, it would read
 * the whole table for good: a plan is kept, and a table fills up faster than statistics are made.
 */
const sessionSettings = [
  '-c enable_seqscan=off',
  '-c jit=off',
  '-c plan_cache_mode=force_generic_plan',
  // A process that is stopped inside a transaction holds rows that every other commit waits for.
  `-c idle_in_transaction_session_timeout=${limits.store.idleTransactionMs}`,
  // For pgvector; without it they have no effect. A scan continues until enough rows have passed
  // the filter.
  '-c hnsw.iterative_scan=strict_order',
  `-c hnsw.ef_search=${limits.points.lookedForMax}`,
  `-c hnsw.max_scan_tuples=${limits.points.scannedMax}`,
].join(' ');

/** Whole numbers come as numbers, and JSON as text, as they do from SQLite. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  20: Number,
  114: String,
  1700: Number,
  3802: String,
};

class Postgres implements Database {
  readonly dialect = postgresDialect;
  readonly commitsMax = limits.store.commitsMax;
  /** Postgres shows a commit only after it is on disk. */
  readonly early = this;
  readonly #pool: Pool;
  readonly #compiled = new Names();
  #offsetMs = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  now(): number {
    return Math.round(performance.now() + this.#offsetMs);
  }

  async measureClock(): Promise<void> {
    const before = performance.now();
    const { rows } = await heard(
      this.#pool.query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now'),
    );
    this.#offsetMs = rows[0].now - (before + performance.now()) / 2;
  }

  async run<Row>(statement: Statement<Row>, parameters?: Parameters): Promise<Row[]> {
    const session = new Session(this.#pool, this.#compiled);
    const rows = await session.run(statement, parameters);
    await session.sent();
    return rows;
  }

  async flushed(): Promise<void> {}

  async write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(work);
      } catch (error) {
        const code = (error as { code?: string }).code ?? '';
        if (code === '53100')
          throw new Failure('storage_full', 'Postgres: disk full', { cause: error });
        if (!conflicts.has(code) || attempt >= limits.store.conflictRetriesMax) throw error;
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #attempt<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await heard(this.#pool.connect());
    const session = new Session(client, this.#compiled);
    let broken: Error | undefined;
    try {
      sendTogether(client);
      const began = client.query('BEGIN');
      // Pipelined: the work's own first statement reports what is wrong with the connection.
      began.catch(() => undefined);
      const result = await work(session);
      for (const last of session.deferred.take()) await session.run(...last);
      sendTogether(client);
      await Promise.all([session.sent(), heard(client.query('COMMIT'))]);
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((rollback: Error) => {
        broken = rollback;
      });
      throw await session.firstError(error);
    } finally {
      client.release(broken);
    }
  }
}

/**
 * The server names a state for what it refuses; without one, it was not heard: the driver's own
 * errors for that have no code by which to know them.
 */
async function heard<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (isFromServer(error)) throw error;
    throw new Failure('store_busy', `Postgres did not answer: ${String(error)}`, { cause: error });
  }
}

/** Only the server's errors have a severity; a code of five letters may be the system's: EPIPE. */
function isFromServer(error: unknown): boolean {
  return typeof (error as { severity?: unknown }).severity === 'string';
}

const transactionAborted = '25P02';

/** Serialisation failure and deadlock: the transaction did nothing, and may be run again. */
const conflicts = new Set(['40001', '40P01']);

interface Named extends Compiled {
  readonly name: string;
}

class Names {
  readonly #known = new Map<Statement<unknown>, Named>();
  readonly #changing = new Map<Statement<unknown>, Named>();

  of(statement: Statement<unknown> | RowsStatement<unknown, Columns>): Named {
    let known = this.#known.get(statement);
    if (!known) {
      known = this.#named(
        'columns' in statement
          ? compileRows(statement, postgresDialect)
          : compile(statement, postgresDialect),
      );
      this.#known.set(statement, known);
    }
    return known;
  }

  /** The statement with the ids that it returns in one row, which costs less than one for each. */
  changing(statement: RowsStatement<{ id: number }, Columns>): Named {
    let known = this.#changing.get(statement);
    if (!known) {
      const compiled = compileRows(statement, postgresDialect);
      const text = `WITH changed AS (${compiled.text})
        SELECT array_agg(id)::text AS ids FROM changed`;
      known = this.#named({ ...compiled, text });
      this.#changing.set(statement, known);
    }
    return known;
  }

  #named(compiled: Compiled): Named {
    return { ...compiled, name: `pawl_${this.#known.size + this.#changing.size}` };
  }
}

class Session implements Transaction {
  readonly dialect = postgresDialect;
  readonly #client: Pool | PoolClient;
  readonly #names: Names;

  constructor(client: Pool | PoolClient, names: Names) {
    this.#client = client;
    this.#names = names;
  }

  /** Statements that were sent and not waited for: the commit is not one unless they went well. */
  #later: Promise<unknown>[] = [];
  readonly deferred = new DeferredStatements();

  async run<Row>(statement: Statement<Row>, parameters: Parameters = {}): Promise<Row[]> {
    const compiled = this.#names.of(statement);
    const { text, name, returnsRows } = compiled;
    const values = parametersOf(compiled, parameters);
    return this.#query({ text, name, values }, returnsRows);
  }

  async each<Row, Column extends Columns>(
    statement: RowsStatement<Row, Column>,
    rows: readonly RowOf<Column>[],
    same: Parameters = {},
  ): Promise<Row[]> {
    if (rows.length === 0) return [];
    const named = this.#names.of(statement);
    const { text, name, returnsRows } = named;
    const values = rowsValues(named, { columns: statement.columns, rows, same });
    return this.#query({ text, name, values }, returnsRows);
  }

  async eachLater<Column extends Columns>(
    statement: RowsStatement<never, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<void> {
    this.#defer(this.each(statement, rows, same));
  }

  async sent(): Promise<void> {
    await Promise.all(this.#later);
    this.#later = [];
  }

  #defer(sent: Promise<unknown>): void {
    sent.catch(() => undefined);
    this.#later.push(sent);
  }

  /**
   * After a statement that was not waited for has failed, the server refuses all that follow it:
   * what is wrong is what it said of the first.
   */
  async firstError(error: unknown): Promise<unknown> {
    if ((error as { code?: string }).code !== transactionAborted) return error;
    const ends = await Promise.allSettled(this.#later);
    return ends.find((end) => end.status === 'rejected')?.reason ?? error;
  }

  runLast(statement: Statement<never>, id: number): void {
    this.deferred.add(statement, id);
  }

  /** What returns no rows is not waited for: that saves a round trip. */
  async #query<Row>(query: Query, returnsRows: boolean): Promise<Row[]> {
    sendTogether(this.#client);
    const answer = heard(this.#client.query(query));
    if (!returnsRows) {
      this.#defer(answer);
      return [];
    }
    try {
      return (await answer).rows as Row[];
    } catch (error) {
      throw await this.firstError(error);
    }
  }

  async hits<Column extends Columns & { id: 'int' }>(
    statement: RowsStatement<{ id: number }, Column>,
    rows: readonly RowOf<Column>[],
    same: Parameters = {},
  ): Promise<boolean[]> {
    if (rows.length === 0) return [];
    const named = this.#names.changing(statement);
    const { text, name } = named;
    const values = rowsValues(named, { columns: statement.columns, rows, same });
    const [found] = await this.#query<{ ids: string | null }>({ text, name, values }, true);
    const changed = new Set<Value>(JSON.parse(`[${found?.ids?.slice(1, -1) ?? ''}]`));
    return rows.map((row) => changed.has(row.id as number));
  }
}

/**
 * What is sent on a connection in one turn is one write to its socket: the driver alone makes one
 * or more for each statement, and each is a system call here and may wake the server.
 */
function sendTogether(client: Pool | PoolClient): void {
  if (!('connection' in client)) return;
  const { stream } = client.connection;
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

interface Query {
  readonly text: string;
  readonly name: string;
  readonly values: unknown[];
}

interface GivenRows {
  readonly columns: Columns;
  readonly rows: readonly RowOf<Columns>[];
  readonly same: Parameters;
}

/** The parameters of a statement over many rows, in its order. */
function rowsValues({ names, text }: Compiled, { columns, rows, same }: GivenRows): Value[] {
  return names.map((key) => {
    const type = columns[key];
    if (type !== undefined) return arrayLiteral(rows, key, type);
    const value = same[key];
    if (value === undefined) throw missing(key, text);
    return value;
  });
}

/**
 * A column of many rows as Postgres reads an array. The driver would do it too, but quotes and
 * escapes every number. Neighbors often have the same value: it is converted once.
 */
function arrayLiteral(rows: readonly RowOf<Columns>[], key: string, type: ColumnType): string {
  const isNumber = type === 'int' || type === 'real';
  const elements: string[] = [];
  let previous: Value | undefined;
  let element = '';
  for (const row of rows) {
    const value = row[key];
    if (value === undefined) throw missing(key, 'a statement over many rows');
    if (value !== previous) element = isNumber ? String(value ?? 'NULL') : quoted(value);
    previous = value;
    elements.push(element);
  }
  return `{${elements.join(',')}}`;
}

function quoted(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value === 'object') return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  const text = String(value);
  if (!text.includes('"') && !text.includes('\\')) return `"${text}"`;
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
