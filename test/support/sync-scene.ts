/** A folder, a corpus that follows it, and what the two have to say about each other. */
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SyncRun } from '../../src/contract/schema/source.ts';
import type { Pawl } from '../../src/index.ts';
import { syncRun } from '../../src/kernel/lifecycle/sync-run.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { until } from './wait.ts';

/** Writes a file that is old enough for its times to count. */
export function writeOld(folder: string, key: string, text: string): void {
  const path = join(folder, key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const past = Date.now() / 1000 - 60 - Math.random() * 1000;
  utimesSync(path, past, past);
}

/** Runs a source, and waits until everything that the run submitted is indexed. */
export async function syncNow(pawl: Pawl, name: string): Promise<SyncRun> {
  const { run_id } = await sessionOf(pawl).ask('POST /sources/:name/run', {
    params: { name },
    body: {},
  });
  return untilEnded(pawl, name, run_id);
}

export async function untilEnded(pawl: Pawl, name: string, runId: number): Promise<SyncRun> {
  const params = { name, run: String(runId) };
  const run = await until(
    async () => {
      const read = await sessionOf(pawl).ask('GET /sources/:name/runs/:run', { params });
      return [...syncRun.final, 'held'].includes(read.state) ? read : undefined;
    },
    { what: `the end of run ${runId}` },
  );
  for (const id of run.job_ids) await (await pawl.job(id)).wait();
  return run;
}

/** The found counts without zeros: `added 2, removed 1`. */
export function told({ found, state }: SyncRun): string {
  const parts = Object.entries(found).flatMap(([kind, count]) =>
    count > 0 ? `${kind} ${count}` : [],
  );
  return [state, ...parts].join(', ');
}

/** Text by key of every file below a folder, hidden ones left out. */
export function filesIn(folder: string, below = ''): Map<string, string> {
  const files = new Map<string, string>();
  for (const name of readdirSync(join(folder, below))) {
    if (name.startsWith('.')) continue;
    const key = `${below}${name}`;
    if (statSync(join(folder, key)).isDirectory()) {
      for (const [inner, text] of filesIn(folder, `${key}/`)) files.set(inner, text);
    } else {
      files.set(key, readFileSync(join(folder, key), 'utf8'));
    }
  }
  return files;
}

/** The text of each document of a corpus, by its path below the folder. */
export async function documentsOf(
  pawl: Pawl,
  corpus: string,
  folder: string,
): Promise<Map<string, { id: string; text: string; generation: number }>> {
  const documents = new Map<string, { id: string; text: string; generation: number }>();
  const rows = await sessionOf(pawl).store.run<{
    id: string;
    source: string;
    body: string;
    generation: number;
  }>(
    {
      text: `SELECT documents.id, documents.source, documents.generation, texts.body FROM documents
        JOIN texts ON texts.generation_id = documents.generation_id
        WHERE documents.corpus = :corpus`,
    },
    { corpus },
  );
  for (const { id, source, body, generation } of rows) {
    const key = source.startsWith(`${folder}/`) ? source.slice(folder.length + 1) : source;
    documents.set(key, { id, text: body, generation });
  }
  return documents;
}
