/**
 * Statements as functions. The tag says what a call returns. The first type is what the statement
 * takes, by the names of its parameters, the second is its row, the third is where it may run. A
 * statement with one parameter may take its value alone.
 *
 *   export const getItem = first<number, ItemRow>`SELECT * FROM items WHERE id = :id`;
 */
import type { Reader, Transaction } from './database.ts';
import { type Parameters, sql, type Value } from './statement.ts';

/** May have more fields than the statement names. */
type Given<Taken> = { readonly [Name in keyof Taken]: Value };
type Text = [strings: TemplateStringsArray, ...fragments: readonly string[]];

export function all<Taken extends Given<Taken>, Row, At extends Reader = Reader>(...text: Text) {
  const statement = sql<Row>(...text);
  const [, only = ''] = /(?<![:\w]):([a-zA-Z_]+)/.exec(statement.text) ?? [];
  return (reader: At, taken: Taken): Promise<Row[]> => {
    const isNamed = typeof taken === 'object' && taken !== null;
    const parameters = isNamed ? taken : { [only]: taken };
    return reader.run(statement, parameters as Parameters);
  };
}

export function first<Taken extends Given<Taken>, Row, At extends Reader = Reader>(...text: Text) {
  const list = all<Taken, Row, At>(...text);
  return async (reader: At, taken: Taken): Promise<Row | undefined> =>
    (await list(reader, taken))[0];
}

/** Whether a row was found or written. */
export function hits<Taken extends Given<Taken>, At extends Reader = Reader>(...text: Text) {
  const list = all<Taken, unknown, At>(...text);
  return async (reader: At, taken: Taken): Promise<boolean> =>
    (await list(reader, taken)).length > 0;
}

/** How many rows were written, with `RETURNING`. */
export function count<Taken extends Given<Taken>>(...text: Text) {
  const list = all<Taken, unknown, Transaction>(...text);
  return async (transaction: Transaction, taken: Taken): Promise<number> =>
    (await list(transaction, taken)).length;
}

export function write<Taken extends Given<Taken>>(...text: Text) {
  const list = all<Taken, never, Transaction>(...text);
  return async (transaction: Transaction, taken: Taken): Promise<void> => {
    await list(transaction, taken);
  };
}
