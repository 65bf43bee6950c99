/**
 * A folder of 100,000 files that a corpus follows: time and memory of a `pawl sync run` that finds
 * nothing new, and of one that finds 10,000 renamed files, beside rsync, git and CocoIndex on the
 * same folder. The documents are written to the store, not ingested: their text has no part in
 * either run. And a site of 1,000 pages with ETags, which is ingested, and then compared again.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SyncRun } from '../src/contract/schema/source.ts';
import { open, type Pawl } from '../src/index.ts';
import { sessionOf } from '../src/library/internal.ts';
import { documentIdOf } from '../src/store/document/documents.ts';
import { sqlRows } from '../src/store/driver/statement.ts';
import { putEntries } from '../src/store/sync/entries.ts';
import { told } from '../test/support/sync-scene.ts';
import { htmlPage, startSite } from '../test/support/sync-site.ts';
import { makeDirectory, removeDirectory } from '../test/support/temporary.ts';
import type { Figure, Section } from './measure/figure.ts';
import { installPython, pythonProgram } from './peers/python.ts';

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
  const store = join(root, 'store');
  try {
    tell(`writing ${files} files`);
    writeFiles(folder, files);
    await fillStore(store, folder, files);
    const yardsticks = yardsticksOf(root, folder, tell);
    tell('a run that finds nothing');
    const unchanged = measured(store);
    tell(unchanged.told);
    for (let file = 0; file < renames; file += 1) {
      renameSync(pathOf(folder, file), join(folder, `${file % 100}`, `renamed-${file}.md`));
    }
    tell('a run that finds renames');
    const renamed = measured(store);
    tell(renamed.told);
    return [
      {
        title: `A folder of ${files} files`,
        note: '`pawl sync run` with the embedded store. Memory is the peak of the whole process.',
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
          ...yardsticks,
        ],
      },
      await benchSite(join(root, 'site'), isQuick ? 100 : 1000),
    ];
  } finally {
    removeDirectory(root);
  }
}

/** What others need to find that nothing has changed. */
function yardsticksOf(root: string, folder: string, tell: (line: string) => void): Figure[] {
  const figures: Figure[] = [];
  const copy = join(root, 'copy');
  const git = ['git', '-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@a.example'];
  const cocoIndex = cocoIndexOf(root, folder, tell);
  const others: readonly Yardstick[] = [
    {
      name: 'rsync --dry-run',
      before: [['rsync', '-a', `${folder}/`, copy]],
      command: ['rsync', '-an', `${folder}/`, copy],
    },
    {
      name: 'git status',
      before: [
        ['git', '-C', folder, 'init', '--quiet'],
        [...git, 'add', '--all'],
        [...git, 'commit', '--quiet', '--message', 'all'],
      ],
      command: [...git, 'status', '--porcelain'],
    },
    ...(cocoIndex ? [cocoIndex] : []),
  ];
  for (const { name, before, command, environment } of others) {
    tell(`${name}: the first run`);
    if (!before.every((each) => isDone(each, environment))) {
      tell(`no figure of ${name}: it is not installed, failed, or took too long`);
      continue;
    }
    const start = performance.now();
    if (!isDone(command, environment)) continue;
    const seconds = (performance.now() - start) / 1000;
    figures.push({ name, value: seconds, digits: 1, unit: 's' });
  }
  return figures;
}

interface Yardstick {
  readonly name: string;
  /** The first run, which has everything to do. */
  readonly before: readonly (readonly string[])[];
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** CocoIndex copies the files into another folder, and remembers what it has read. */
function cocoIndexOf(
  root: string,
  folder: string,
  tell: (line: string) => void,
): Yardstick | undefined {
  const name = 'cocoindex-1.0.26-alone';
  const requirements = ['cocoindex==1.0.26'];
  const problem = installPython({ name, requirements, module: 'cocoindex', tell });
  if (problem !== undefined) {
    tell(`no figure of CocoIndex: ${problem}`);
    return undefined;
  }
  const program = fileURLToPath(new URL('products/program/cocoindex-folder.py', import.meta.url));
  const command = [pythonProgram(name, 'cocoindex'), 'update', '--quiet', program];
  const environment = {
    FOLDER: folder,
    COPY: join(root, 'cocoindex-copy'),
    COCOINDEX_DB: join(root, 'cocoindex.db'),
    COCOINDEX_DISABLE_USAGE_TRACKING: '1',
  };
  return { name: 'CocoIndex, again', before: [command], command, environment };
}

/** Another one that takes longer is not waited for. */
const yardstickMs = 1_200_000;

function isDone(
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): boolean {
  const env = { ...process.env, ...environment };
  const options = { stdio: 'ignore', timeout: yardstickMs, env } as const;
  return spawnSync(program, args, options).status === 0;
}

/** Every page is asked for, and none is sent again. */
async function benchSite(data: string, pages: number): Promise<Section> {
  const releases: (() => void | Promise<void>)[] = [];
  const paths = Array.from({ length: pages }, (_, page) => `/${page}`);
  const site = await startSite({ after: (release) => void releases.push(release) });
  for (const path of paths) site.pages.set(path, htmlPage(`Page ${path}`, `The heron ${path}.`));
  const rows = paths.map((path) => `<url><loc>${site.origin}${path}</loc></url>`);
  site.pages.set('/sitemap.xml', `<urlset>${rows.join('')}</urlset>`);
  const pace = { '127.0.0.1': { concurrency: 8, intervalMs: 0 } };
  const pawl = await open({ data, allowHosts: [site.host], pace });
  try {
    await pawl.addSource({ corpus, location: `${site.origin}/sitemap.xml`, name, kind: 'site' });
    const first = await pawl.runSource(name);
    for (const id of first.jobIds) await (await pawl.job(id)).wait();
    site.bodies();
    const start = performance.now();
    const again = await pawl.runSource(name);
    const seconds = (performance.now() - start) / 1000;
    const bodies = site.bodies().filter((path) => path !== '/sitemap.xml').length;
    return {
      title: `A site of ${pages} pages with ETags, compared again`,
      note: 'On loopback, without a pause between requests.',
      figures: [
        { name: 'unchanged', value: again.found.unchanged, digits: 0 },
        { name: 'bodies sent', value: bodies, digits: 0, target: { atMost: 0 } },
        { name: 'time', value: seconds, digits: 1, unit: 's' },
      ],
    };
  } finally {
    await pawl.close();
    for (const release of releases) await release();
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

async function fillStore(data: string, folder: string, files: number): Promise<void> {
  const pawl = await open({ data });
  try {
    await pawl.addSource({ corpus, location: folder, name });
    await fill(pawl, folder, files);
  } finally {
    await pawl.close();
  }
}

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

const program = fileURLToPath(new URL('../bin/pawl', import.meta.url));
/** Runs in the measured process, and prints its peak at its end. */
const meter = `process.on('exit',()=>process._rawDebug('peak '+process.resourceUsage().maxRSS))`;

/** The command of a user, from its start to its end. */
function measured(data: string) {
  const start = performance.now();
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [program, 'sync', 'run', name, '--json', '--data', data],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(meter)}`,
      },
    },
  );
  const seconds = (performance.now() - start) / 1000;
  if (status !== 0) throw new Error(`pawl sync run ended with ${status}: ${stderr}`);
  const run = JSON.parse(stdout.split('\n')[0] ?? '') as SyncRun;
  const peakKib = Number(/^peak (\d+)/m.exec(stderr)?.[1]);
  return { told: told(run), jobs: run.job_ids.length, seconds, mebibytes: peakKib / 1024 };
}
