/**
 * The embedded database: one file, WAL, every write `BEGIN IMMEDIATE`.
 *
 * Group commit: what is asked for while the last commit is being flushed is committed together, so
 * that full durability costs one flush for all of it. A lone write waits for nothing.
 *
 * SQLite would flush its log inside `COMMIT`, and block the event loop. That is switched off: the
 * log is flushed right after, off the event loop, and neither writers nor readers see a commit
 * before it is on disk (docs/decisions/0056).
 */
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { nextTurn, type World } from '../../kernel/world.ts';
import type { Database, Transaction } from './database.ts';
import { DeferredStatements } from './deferred-statements.ts';
import { sqliteDialect } from './dialect.ts';
import { EarlyReads } from './early-reads.ts';
import { Log, makeFolder, StoreFile } from './sqlite-files.ts';
import { type Runnable, takesOnlyNames, withNames } from './sqlite-parameters.ts';
import {
  type Columns,
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

interface Work {
  readonly run: (transaction: Transaction) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export interface SqliteOptions {
  /** A path, or `:memory:`. */
  readonly path: string;
  readonly world: World;
}

export function openSqlite(options: SqliteOptions): Database {
  return new Sqlite(options);
}

class Sqlite implements Database {
  readonly dialect = sqliteDialect;
  readonly early: Database;
  readonly commitsMax = 1;
  readonly #world: World;
  readonly #writer: Connection;
  /** For reads while a transaction is open. In memory there is none: such a read waits. */
  readonly #reader: Connection | undefined;
  readonly #log: Log | undefined;
  readonly #file: StoreFile | undefined;
  #queued: Work[] = [];
  #committing: Promise<void> | undefined;
  #flushing: Promise<void> | undefined;
  #scheduled = false;
  #closed = false;

  constructor({ path, world }: SqliteOptions) {
    this.#world = world;
    this.early = new EarlyReads(this, (statement, parameters) => this.#read(statement, parameters));
    const isFile = path !== ':memory:';
    if (isFile) makeFolder(dirname(path));
    this.#writer = new Connection(path, limits.store.cacheKib, world);
    if (!isFile) return;
    this.#file = new StoreFile(path);
    this.#reader = new Connection(path, limits.store.readerCacheKib, world);
    this.#log = new Log(`${path}-wal`);
  }

  now(): number {
    return this.#world.now();
  }

  /** There is only this machine's clock. */
  async measureClock(): Promise<void> {}

  async run<Row>(statement: Statement<Row>, parameters?: Parameters): Promise<Row[]> {
    const rows = await this.#read(statement, parameters);
    await this.flushed();
    return rows;
  }

  /** After a failed flush as well, what was read may be lost. */
  async flushed(): Promise<void> {
    await this.#flushing;
    this.#log?.check();
  }

  async #read<Row>(statement: Statement<Row>, parameters?: Parameters): Promise<Row[]> {
    this.#file?.checkNowAndThen(this.#world.now());
    return (await this.#idleConnection()).runNow(statement, parameters);
  }

  /** The writer has the pages cached; another connection reads them again after each commit. */
  async #idleConnection(): Promise<Connection> {
    while (this.#writer.isInTransaction()) {
      if (this.#reader) return this.#reader;
      await this.#committing;
    }
    return this.#writer;
  }

  write<T>(run: (transaction: Transaction) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(new Failure('internal_error', 'the store is closed'));
      this.#queued.push({ run, resolve, reject });
      this.#schedule();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.#queued.length > 0 || this.#committing) {
      await (this.#committing ?? this.#commitQueued());
    }
    this.#reader?.close();
    this.#writer.close();
    await this.#log?.close();
  }

  #schedule(): void {
    if (this.#scheduled || this.#committing) return;
    this.#scheduled = true;
    this.#world.afterTurn(() => {
      this.#scheduled = false;
      if (!this.#committing && this.#queued.length > 0) void this.#commitQueued();
    });
  }

  #commitQueued(): Promise<void> {
    const batch = this.#queued.splice(0, limits.store.worksPerCommitMax);
    this.#committing = this.#commit(batch).finally(() => {
      this.#committing = undefined;
      if (this.#queued.length > 0) this.#schedule();
    });
    return this.#committing;
  }

  async #commit(batch: readonly Work[]): Promise<void> {
    try {
      this.#writer.begin();
    } catch (error) {
      // Another process has held the file for longer than we wait: nobody here had a turn.
      for (const work of batch) work.reject(toStoreFailure(error));
      return;
    }
    const results: unknown[] = [];
    try {
      for (const work of batch) results.push(await work.run(this.#writer));
      for (const last of this.#writer.deferred.take()) await this.#writer.run(...last);
      this.#writer.execute('COMMIT');
    } catch (error) {
      this.#writer.deferred.take();
      // A full disk has already rolled back.
      if (this.#writer.isInTransaction()) this.#writer.execute('ROLLBACK');
      if (batch.length === 1) return batch[0]?.reject(toStoreFailure(error));
      // One of them spoiled the commit for all: each goes again on its own.
      for (const work of batch) await this.#commit([work]);
      return;
    }
    try {
      await this.#flush();
      this.#file?.check();
    } catch (error) {
      for (const work of batch) work.reject(toStoreFailure(error));
      return;
    }
    batch.forEach((work, index) => {
      work.resolve(results[index] as never);
    });
  }

  #flush(): Promise<void> | undefined {
    this.#flushing = this.#log?.flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }
}

/** One connection with its prepared statements. */
class Connection implements Transaction {
  readonly dialect = sqliteDialect;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<Statement<unknown>, Prepared>();
  readonly #counted = new Map<Statement<unknown>, Prepared>();
  readonly deferred = new DeferredStatements();
  readonly #world: World;
  readonly #isNamed: boolean;
  #statements = 0;

  constructor(path: string, cacheKib: number, world: World) {
    this.#world = world;
    this.#database = new DatabaseSync(path, {
      timeout: limits.store.busyTimeoutMs,
      // A step that is added to the lifecycle rewrites the text of a CHECK (`migrate.ts`).
      defensive: false,
    });
    this.#isNamed = takesOnlyNames(this.#database);
    this.#database.function('lower_of', { deterministic: true }, (text) =>
      typeof text === 'string' ? text.toLowerCase() : null,
    );
    this.#database.exec('PRAGMA journal_mode = WAL');
    // Each commit flushes the log; SQLite flushes what a checkpoint needs.
    this.#database.exec('PRAGMA synchronous = NORMAL');
    this.#database.exec('PRAGMA foreign_keys = OFF');
    this.#database.exec(`PRAGMA cache_size = -${cacheKib}`);
    this.#database.exec(`PRAGMA wal_autocheckpoint = ${limits.store.checkpointPages}`);
  }

  execute(text: string): void {
    this.#database.exec(text);
  }

  /** Its statements are counted from here: only a transaction of many gives others a turn. */
  begin(): void {
    this.#statements = 0;
    this.#database.exec('BEGIN IMMEDIATE');
  }

  isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  runNow<Row>(statement: Statement<Row>, parameters: Parameters = {}): Row[] {
    const compiled = this.#prepare(statement);
    const { returnsRows, prepared } = compiled;
    const values = parametersOf(compiled, parameters);
    if (returnsRows) return prepared.all(...values) as Row[];
    prepared.run(...values);
    return [];
  }

  async run<Row>(statement: Statement<Row>, parameters?: Parameters): Promise<Row[]> {
    if (this.#isLong()) await nextTurn(this.#world);
    return this.runNow(statement, parameters);
  }

  /**
   * Whether others should have a turn. The largest jobs take seconds to write, on the event loop.
   * Counted, and not timed, so that a simulation takes the same turns each time.
   */
  #isLong(): boolean {
    this.#statements = (this.#statements + 1) % limits.store.statementsPerTurn;
    return this.#statements === 0;
  }

  async each<Row, Column extends Columns>(
    statement: RowsStatement<Row, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<Row[]> {
    const compiled = this.#prepare(statement);
    const { returnsRows, prepared } = compiled;
    const returned: Row[] = [];
    for (const row of rows) {
      if (this.#isLong()) await nextTurn(this.#world);
      const values = valuesOf(compiled, row, same);
      if (returnsRows) returned.push(...(prepared.all(...values) as Row[]));
      else prepared.run(...values);
    }
    return returned;
  }

  async eachLater<Column extends Columns>(
    statement: RowsStatement<never, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<void> {
    await this.each(statement, rows, same);
  }

  /** Each has run when it returns. */
  async sent(): Promise<void> {}

  runLast(statement: Statement<never>, id: number): void {
    this.deferred.add(statement, id);
  }

  async hits<Column extends Columns & { id: 'int' }>(
    statement: RowsStatement<{ id: number }, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<boolean[]> {
    const compiled = this.#prepare(statement, this.#counted);
    return rows.map((row) => compiled.prepared.run(...valuesOf(compiled, row, same)).changes > 0);
  }

  #prepare(
    statement: Statement<unknown> | RowsStatement<unknown, Columns>,
    cache = this.#prepared,
  ): Prepared {
    let known = cache.get(statement);
    if (!known) {
      const compiled =
        'columns' in statement
          ? compileRows(statement, sqliteDialect)
          : compile(statement, sqliteDialect);
      // A statement that only counts returns no rows.
      const isCounted = cache === this.#counted;
      const text = isCounted ? compiled.text.replace(/RETURNING[^)]*$/i, '') : compiled.text;
      const prepared = this.#database.prepare(text);
      known = { ...compiled, prepared: this.#isNamed ? withNames(prepared) : prepared };
      cache.set(statement, known);
    }
    return known;
  }
}

interface Prepared extends Compiled {
  readonly prepared: Runnable;
}

function valuesOf(
  { names, text }: Compiled,
  row: RowOf<Columns>,
  same: Parameters | undefined,
): Value[] {
  const values: Value[] = new Array(names.length);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const value = row[name] ?? same?.[name] ?? row[name];
    if (value === undefined) throw missing(name, text);
    values[index] = value;
  }
  return values;
}

const failureByCode: Readonly<Record<number, 'store_busy' | 'storage_full'>> = {
  5: 'store_busy',
  6: 'store_busy',
  13: 'storage_full',
};

function toStoreFailure(error: unknown): unknown {
  const primary = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
  const code = failureByCode[primary];
  return code
    ? new Failure(code, `could not write to the store: ${String(error)}`, { cause: error })
    : error;
}
