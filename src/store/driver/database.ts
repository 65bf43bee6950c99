/** The port that both databases serve. Queries are written against it, and know no driver. */
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
   * Runs the statement for every row, and returns what it returned, in any order. `same` holds the
   * parameters that are the same for all rows.
   */
  each<Row, Column extends Columns>(
    statement: RowsStatement<Row, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<Row[]>;
  /** The same, but its end is waited for with the commit only: one way to the server less. */
  eachLater<Column extends Columns>(
    statement: RowsStatement<never, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<void>;
  /**
   * Runs the statement once, after everything else in the transaction, with all `ids` that it was
   * given: what costs as much for one as for many is done for the whole commit together.
   */
  runLast(statement: Statement<never>, id: number): void;
  /**
   * Runs an `UPDATE` for every row and says of each whether it changed something. The statement
   * has the key column `id`, returns it, and no two rows have the same.
   */
  hits<Column extends Columns & { id: 'int' }>(
    statement: RowsStatement<{ id: number }, Column>,
    rows: readonly RowOf<Column>[],
    same?: Parameters,
  ): Promise<boolean[]>;
}

export interface Database extends Reader {
  readonly dialect: Dialect;
  /** How many commits may be under way at once with profit. */
  readonly commitsMax: number;
  /**
   * Runs the work in one transaction, and resolves when it is on disk. The work may be run again
   * (after a deadlock, or when a neighbour in the same commit failed), so it changes nothing but
   * the database.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** The time by which leases are judged, in milliseconds. */
  now(): number;
  /** Compares this machine's clock with the database's, if that has one of its own. */
  measureClock(): Promise<void>;
  close(): Promise<void>;
}
