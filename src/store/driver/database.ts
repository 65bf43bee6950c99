/** The port that both databases implement. Queries use only this port, never a driver. */
import type { Dialect } from './dialect.ts';
import type {
  Columns,
  Parameters,
  ParametersOf,
  RowOf,
  RowsStatement,
  Statement,
} from './statement.ts';

export interface Reader {
  /** Runs a statement and returns its rows. */
  run<Row, Name extends string = string>(
    statement: Statement<Row, Name>,
    parameters?: ParametersOf<Name>,
  ): Promise<Row[]>;
}

export interface Transaction extends Reader {
  readonly dialect: Dialect;
  /**
   * Resolves when every statement so far has run. One that returns no rows may resolve before that:
   * its failure is then reported by a later statement, by this, or by the commit.
   */
  sent(): Promise<void>;
  /**
   * Runs the statement for every row and returns all results. Order is not guaranteed. `same` holds
   * parameters shared by all rows.
   */
  each<Row, Column extends Columns>(
    statement: RowsStatement<Row, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<Row[]>;
  /** The same, but the result is awaited with the commit only: saves one round trip. */
  eachLater<Column extends Columns>(
    statement: RowsStatement<never, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<void>;
  /**
   * Runs the statement once at the end of the transaction, with all `ids` it was given: work that
   * costs the same for one id as for many is done once per commit.
   */
  runLast(statement: Statement<never>, id: number): void;
  /**
   * Runs an `UPDATE` for every row and returns for each whether it changed something. The statement
   * has the key column `id` and returns it; ids are unique among the rows.
   */
  hits<Column extends Columns & { id: 'int' }>(
    statement: RowsStatement<{ id: number }, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<boolean[]>;
}

export interface Database extends Reader {
  readonly dialect: Dialect;
  /**
   * The same database, with reads that may see a commit before it is on disk. Many reads of one
   * request then wait for the disk once: show nothing of them before `flushed` has resolved.
   */
  readonly early: Database;
  /** Resolves when every commit that a read has seen is on disk. Rejects if the disk refuses. */
  flushed(): Promise<void>;
  /** The number of concurrent commits that improve throughput. */
  readonly commitsMax: number;
  /**
   * Runs the work in one transaction, and resolves when it is on disk. The work may run again
   * (after a deadlock, or when a neighbour in the same commit failed), so it must have no effect
   * outside the database.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** The clock for leases, in milliseconds. */
  now(): number;
  /** Compares this machine's clock with the database's, if the database has its own. */
  measureClock(): Promise<void>;
  close(): Promise<void>;
}
