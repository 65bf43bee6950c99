/**
 * A folder of 100,000 files that a corpus follows: the time and memory of a run that finds nothing
 * new, and of one that finds 10,000 renamed files. The documents are written to the store, not
 * ingested: their text has no part in either run.
 */
import { hash } from 'node:crypto';
import { mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open, type Pawl } from '../src/index.ts';
import { sessionOf } from '../src/library/internal.ts';
import { documentIdOf } from '../src/store/document/documents.ts';
import { sqlRows } from '../src/store/driver/statement.ts';
import { putEntries } from '../src/store/sync/entries.ts';
import { told, untilEnded } from '../test/support/sync-scene.ts';
import { makeDirectory, removeDirectory } from '../test/support/temporary.ts';
import type { Section } from './measure/figure.ts';

interface Options {
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

const corpus = 'docs';
const name = 'docs';

export async function benchSync({ isQuick, tell }: Options): Promise<Section[]> {
  const files = isQuick ? 10_000 : 100_000;
  const renames = files / 10;
  const root = makeDirectory();
  const folder = join(root, 'docs');
  const pawl = await open({ data: join(root, 'store') });
  try {
    tell(`writing ${files} files`);
    writeFiles(folder, files);
    await sessionOf(pawl).ask('POST /sources', {
      body: { corpus_name: corpus, location: folder, name },
    });
    await fill(pawl, folder, files);
    tell('a run that finds nothing');
    const unchanged = await measured(pawl);
    tell(unchanged.told);
    for (let file = 0; file < renames; file += 1) {
      renameSync(pathOf(folder, file), join(folder, `${file % 100}`, `renamed-${file}.md`));
    }
    tell('a run that finds renames');
    const renamed = await measured(pawl);
    tell(renamed.told);
    return [
      {
        title: `A folder of ${files} files`,
        note: 'One process with the embedded store. Memory is the peak of the whole process.',
        figures: [
          {
            name: 'unchanged',
            value: unchanged.seconds,
            digits: 1,
            unit: 's',
            target: { atMost: 10 },
          },
          {
            name: 'peak memory',
            value: unchanged.mebibytes,
            digits: 0,
            unit: 'MB',
            target: { atMost: 200 },
          },
          { name: `${renames} renamed`, value: renamed.seconds, digits: 1, unit: 's' },
          { name: 'jobs submitted', value: renamed.jobs, digits: 0, target: { atMost: 0 } },
        ],
      },
    ];
  } finally {
    await pawl.close();
    removeDirectory(root);
  }
}

function pathOf(folder: string, file: number): string {
  return join(folder, `${file % 100}`, `${file}.md`);
}

function textOf(file: number): string {
  return `# Page ${file}\n\nThe heron number ${file} waits.\n`;
}

function writeFiles(folder: string, files: number): void {
  for (let part = 0; part < 100; part += 1) mkdirSync(join(folder, `${part}`), { recursive: true });
  const past = Date.now() / 1000 - 3600;
  for (let file = 0; file < files; file += 1) {
    writeFileSync(pathOf(folder, file), textOf(file));
    utimesSync(pathOf(folder, file), past, past);
  }
}

const documents = sqlRows({ id: 'text', source: 'text', generation_id: 'int', hash: 'text' })`
  INSERT INTO documents (id, caller, corpus, source, generation, generation_id, as_of,
    content_hash, chunk_count, text_bytes, created_at, updated_at)
  SELECT :id, 'local', :corpus, :source, 1, :generation_id, :generation_id, :hash, 0, 0, 0, 0
  {rows}`;
const fetches = sqlRows({ generation_id: 'int', hash: 'text', bytes: 'int' })`
  INSERT INTO fetches (generation_id, blob_key, media_type, bytes)
  SELECT :generation_id, :hash, 'text/markdown', :bytes {rows}`;

async function fill(pawl: Pawl, folder: string, files: number): Promise<void> {
  const page = 1000;
  for (let from = 0; from < files; from += page) {
    const rows = Array.from({ length: page }, (_, index) => {
      const file = from + index;
      const source = pathOf(folder, file);
      const { size, mtimeMs, ctimeMs } = statSync(source);
      return {
        key: `${file % 100}/${file}.md`,
        id: documentIdOf('local', corpus, source),
        source,
        generation_id: 1_000_000 + file,
        hash: hash('sha256', textOf(file)),
        bytes: size,
        stamp: `${size} ${mtimeMs} ${ctimeMs}`,
      };
    });
    await sessionOf(pawl).store.write(async (transaction) => {
      await transaction.each(documents, rows, { corpus });
      await transaction.each(fetches, rows);
      await putEntries(
        transaction,
        1,
        rows.map(({ key, id, stamp, bytes }) => ({ key, document_id: id, stamp, size: bytes })),
      );
    });
  }
}

async function measured(pawl: Pawl) {
  const start = performance.now();
  const { run_id } = await sessionOf(pawl).ask('POST /sources/:name/run', {
    params: { name },
    body: {},
  });
  const run = await untilEnded(pawl, name, run_id);
  return {
    told: told(run),
    jobs: run.job_ids.length,
    seconds: (performance.now() - start) / 1000,
    mebibytes: process.resourceUsage().maxRSS / 1024,
  };
}
