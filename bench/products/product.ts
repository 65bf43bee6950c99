/** What the comparison needs to know of a product. */

/** Where one product works: fresh for each measurement, kept between a crash and the next run. */
export interface Place {
  /** The pages, flat, with unique names. */
  readonly pages: string;
  /** A folder of its own, empty at first. */
  readonly state: string;
  /** A Postgres database of its own, with pgvector, empty at first. */
  readonly databaseUrl: string;
  readonly embedderUrl: string;
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface StoredText {
  /** The name of the page. */
  readonly page: string;
  readonly text: string;
}

export interface Product {
  readonly name: string;
  readonly version: string;
  /** What it consists of here, and how its own documentation says to run it again. */
  readonly setup: string;
  /** Installs it; why it cannot be measured, or undefined. */
  prepare(tell: (line: string) => void): string | undefined;
  /** The whole work, from the folder to the store. The same command resumes. */
  command(place: Place): Command;
  stored(place: Place): Promise<readonly StoredText[]>;
}
