/**
 * The only way to run SQL. A statement is written once, as SQL, with `:name` for its parameters:
 *
 *   const getItem = sql<ItemRow>`SELECT * FROM items WHERE id = :id`;
 *
 * A statement over many rows names the type of each column, and says with `{rows}` where the rows
 * come in. SQLite runs it once for each row; Postgres runs it once for all of them. A parameter
 * that is no column is the same for all rows.
 *
 *   const advance = sqlRows({ id: 'int', step: 'text' })`
 *     UPDATE items SET step = :step {rows} WHERE items.id = :id`;
 *
 * What differs between the databases is the short list in `dialect.ts`, written `{likeThis}`.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Dialect } from './dialect.ts';

export type Value = string | number | bigint | null | Uint8Array;
/** Absent values are passed as `null`: `undefined` is a parameter that was forgotten. */
export type Parameters = Readonly<Record<string, Value>>;
export type ColumnType = 'int' | 'real' | 'text' | 'json' | 'bytes';
export type Columns = Readonly<Record<string, ColumnType>>;

/**
 * `Row` types what the statement returns, `Name` the parameters that it takes. Neither exists at
 * run time. A statement that declares its names takes exactly those; TypeScript cannot read them
 * from the text of a tagged template. Without names, a missing parameter is found when it runs.
 */
export interface Statement<Row, Name extends string = string> {
  readonly text: string;
  readonly row?: Row;
  readonly name?: Name;
}

export type ParametersOf<Name extends string> = Readonly<Record<NoInfer<Name>, Value>>;

export interface RowsStatement<Row, Column extends Columns> extends Statement<Row> {
  readonly columns: Column;
}

export type RowOf<Column extends Columns> = { readonly [K in keyof Column]: Value };

export function sql<Row = never, Name extends string = string>(
  strings: TemplateStringsArray,
  ...fragments: readonly string[]
): Statement<Row, Name> {
  return { text: String.raw({ raw: strings }, ...fragments) };
}

export function sqlRows<const Column extends Columns>(columns: Column) {
  return <Row = never>(
    strings: TemplateStringsArray,
    ...fragments: readonly string[]
  ): RowsStatement<Row, Column> => ({
    text: String.raw({ raw: strings }, ...fragments),
    columns,
  });
}

/** A statement in one database's words, with the order in which it takes its parameters. */
export interface Compiled {
  readonly text: string;
  readonly names: readonly string[];
  readonly returnsRows: boolean;
}

export function compile(statement: Statement<unknown>, dialect: Dialect): Compiled {
  const names: string[] = [];
  const text = withFacts(statement.text, dialect).replace(parameter, (_, before, name: string) => {
    let index = names.indexOf(name);
    if (index < 0) index = names.push(name) - 1;
    return `${before}${dialect.placeholder(index + 1)}`;
  });
  return { text, names, returnsRows: returning.test(text) };
}

/** The same for a statement over many rows, which each dialect takes in its own way. */
export function compileRows(
  statement: RowsStatement<unknown, Columns>,
  dialect: Dialect,
): Compiled {
  const columns = Object.keys(statement.columns);
  const names = [...columns];
  const rows = dialect.rowsClause(statement.columns);
  const verb = /^\s*DELETE/i.test(statement.text) ? rows.replace(/^FROM/, 'USING') : rows;
  const text = withFacts(statement.text.replace('{rows}', verb), dialect).replace(
    parameter,
    (_, before, name: string) => {
      const isColumn = columns.includes(name);
      if (!names.includes(name)) names.push(name);
      const index = names.indexOf(name) + 1;
      return `${before}${isColumn ? dialect.rowColumn(name, index) : dialect.placeholder(index)}`;
    },
  );
  return { text, names, returnsRows: returning.test(text) };
}

// Not after a colon or a letter, so that a cast (`::text`) or a time (`12:30`) is left alone.
const parameter = /(^|[^:\w]):([a-zA-Z_]+)/g;
const returning = /\bRETURNING\b|^\s*(SELECT|WITH|PRAGMA|EXPLAIN)\b/i;

function withFacts(text: string, dialect: Dialect): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => dialect.facts[name] ?? whole);
}

/** The values of one statement, in its order. */
export function parametersOf({ names, text }: Compiled, parameters: Parameters): Value[] {
  return names.map((name) => {
    const value = parameters[name];
    if (value === undefined) throw missing(name, text);
    if (typeof value === 'string' && value.includes('\0')) throw hasNul();
    return value;
  });
}

/**
 * A parameter that is not given would be NULL in the database, and a compare-and-set on NULL
 * changes nothing: it would look like a refusal.
 */
export function missing(name: string, text: string): Error {
  const start = text.trim().replace(/\s+/g, ' ').slice(0, 80);
  return new Error(`the parameter :${name} is missing in ${start}`);
}

/** SQLite ends a pattern there, and Postgres takes no such text: it is the same on both. */
function hasNul(): Failure {
  const message = 'a text has a NUL character (U+0000), which no text may have: remove it';
  return new Failure('bad_request', message);
}
