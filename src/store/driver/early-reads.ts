/** A database whose reads do not wait for the disk: `Database.early`. */
import type { Database, Transaction } from './database.ts';
import type { Parameters, Statement } from './statement.ts';

type Read = <Row>(statement: Statement<Row>, parameters?: Parameters) => Promise<Row[]>;

export class EarlyReads implements Database {
  readonly #database: Database;
  readonly run: Read;
  readonly early = this;

  constructor(database: Database, read: Read) {
    this.#database = database;
    this.run = read;
  }

  get dialect() {
    return this.#database.dialect;
  }

  get commitsMax(): number {
    return this.#database.commitsMax;
  }

  now(): number {
    return this.#database.now();
  }

  measureClock(): Promise<void> {
    return this.#database.measureClock();
  }

  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#database.write(work);
  }

  flushed(): Promise<void> {
    return this.#database.flushed();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
