/**
 * Stores written by an earlier Pawl, at schema 23: four callers, each with documents, jobs, a
 * failed document and idempotency keys. Opening one migrates it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import type { Postgres } from '../postgres.ts';

/** What a caller had in the store, by its ids at that time. */
export interface Belongings {
  readonly key: string;
  readonly jobs: readonly string[];
  readonly corpora: readonly string[];
  /** Of the corpus `handbook`. */
  readonly documents: readonly string[];
  /** What a search of `handbook` for `grey heron` found. */
  readonly chunks: readonly string[];
  readonly inbox: readonly number[];
}

export type Person = 'ann' | 'dave' | 'erin' | 'carol';

const here = (name: string): string => join(import.meta.dirname, name);

export function belongingsIn(store: 'sqlite' | 'postgres'): Record<Person, Belongings> {
  return JSON.parse(readFileSync(here('schema-23.json'), 'utf8'))[store];
}

/** Puts the store into a data folder. */
export function copySqlite(folder: string): void {
  writeFileSync(join(folder, 'pawl.db'), gunzipSync(readFileSync(here('schema-23.db.gz'))));
}

/** Creates a database with the store in it; returns its URL. */
export async function copyPostgres(postgres: Postgres): Promise<string> {
  const url = await postgres.createDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(gunzipSync(readFileSync(here('schema-23.sql.gz'))).toString());
  } finally {
    await client.end();
  }
  return url;
}
