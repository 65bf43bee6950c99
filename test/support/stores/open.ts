/**
 * Stores that earlier versions of Pawl have written. Opening one migrates it.
 *
 * Schema 23: four callers, each with documents, jobs, a failed document and idempotency keys.
 * Schema 34: one local caller with jobs in each state that a closed store can have, two failed
 * items, and a batch task that is not submitted yet.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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

/** The keys of the jobs of schema 34 by their state, its batch task, and the ids in its inbox. */
export interface LocalBelongings {
  readonly done: string;
  readonly partly: string;
  readonly failed: string;
  readonly paused: string;
  readonly queued: string;
  readonly canceled: string;
  readonly task: string;
  readonly inbox: readonly number[];
}

export function localBelongingsIn(store: 'sqlite' | 'postgres'): LocalBelongings {
  return JSON.parse(readFileSync(here('schema-34.json'), 'utf8'))[store];
}

type Schema = 23 | 34;

/** A store is some days old, and a batch task fails at the age of 26 hours. */
function renewTasks(table: string): string {
  return `UPDATE ${table} SET created_at = ${Date.now()}, next_at = ${Date.now()}`;
}

/** Puts the store into a data folder. */
export function copySqlite(folder: string, schema: Schema = 23): void {
  const file = join(folder, 'pawl.db');
  writeFileSync(file, gunzipSync(readFileSync(here(`schema-${schema}.db.gz`))));
  using database = new DatabaseSync(file);
  database.exec(renewTasks('batch_tasks'));
}

/** A database with the store in it; returns its URL. */
export async function copyPostgres(postgres: Postgres, schema: Schema = 23): Promise<string> {
  const url = await postgres.createDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(gunzipSync(readFileSync(here(`schema-${schema}.sql.gz`))).toString());
    await client.query(renewTasks('public.batch_tasks'));
  } finally {
    await client.end();
  }
  return url;
}
