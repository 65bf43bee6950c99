/**
 * Questions on a real manual, through extraction, chunking and search: whether an answer page is
 * among the first ten passages, and first. The questions were written before any result was seen.
 * Half of them share no content word with the heading that answers them.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble } from '../src/app/wire.ts';
import type { Searcher } from '../src/search/search.ts';
import { expandSources } from '../src/source/sources.ts';
import type { Database } from '../src/store/driver/database.ts';
import { sql } from '../src/store/driver/statement.ts';
import { unpack } from './fidelity/debian.ts';
import type { Figure, Section, Table } from './measure/figure.ts';

const scope = { caller: 'bench', corpus: 'manual' } as const;
const modes = ['keyword', 'vector', 'hybrid'] as const;
const kinds = ['literal', 'paraphrased'] as const;
type Mode = (typeof modes)[number];
type Kind = (typeof kinds)[number];

export interface Question {
  readonly kind: Kind;
  readonly question: string;
  /** The heading that answers it. */
  readonly heading: string;
  /** Pages that answer it, relative to the folder. */
  readonly pages: readonly string[];
}

export interface Manual {
  /** The Debian package of the manual. */
  readonly package: string;
  readonly folder: string;
  readonly questions: readonly Question[];
}

export interface ManualOptions {
  readonly name: ManualName;
  /** The folder of the pages; the Debian package is downloaded if absent. */
  readonly data: string | undefined;
  /** As in PAWL_EMBEDDER. */
  readonly embedder: string;
  readonly tell: (line: string) => void;
}

interface Answered {
  readonly kind: Kind;
  readonly mode: Mode;
  /** From 1; undefined if no answer page is among the first ten passages. */
  readonly place: number | undefined;
  readonly distinctPages: number;
}

/** The weights of the ranking were chosen on the last two, and on none of the first. */
export const manualNames = ['python', 'git', 'sqlite'] as const;
export type ManualName = (typeof manualNames)[number];

export function readManual(name: ManualName): Manual {
  const path = new URL(`./questions/${name}-manual.json`, import.meta.url);
  return JSON.parse(readFileSync(path, 'utf8'));
}

export async function benchManual(options: ManualOptions): Promise<Section[]> {
  const { name, data, embedder, tell } = options;
  const manual = readManual(name);
  const folder = data ?? folderOf(manual, tell);
  if (folder === undefined || !existsSync(join(folder, manual.questions[0]?.pages[0] ?? ''))) {
    tell(`manual: skipped. Give the HTML pages of ${manual.package} with --data DIR.`);
    return [];
  }
  const store = mkdtempSync(join(tmpdir(), 'pawl-manual-'));
  const opened = await assemble({ data: store, embedder: { choice: embedder } });
  try {
    tell(`manual: ingesting ${folder}`);
    await ingest(opened, folder);
    tell(`manual: ${manual.questions.length} questions`);
    return [report(await answerAll(opened.searcher, manual.questions), options)];
  } finally {
    await opened.engine.stop();
    await opened.close();
    rmSync(store, { recursive: true, force: true });
  }
}

function folderOf(manual: Manual, tell: (line: string) => void): string | undefined {
  const unpacked = unpack(manual.package);
  if ('root' in unpacked) return join(unpacked.root, manual.folder);
  tell(unpacked.problem);
  return undefined;
}

type Opened = Awaited<ReturnType<typeof assemble>>;

async function ingest({ engine, database }: Opened, folder: string): Promise<void> {
  await engine.start();
  const sources = await expandSources([join(folder, '**/*.html')]);
  const { jobKey } = await engine.commands.submit({ ...scope, sources });
  await ended(database, jobKey);
}

const jobState = sql<{ state: string }>`SELECT state FROM jobs WHERE key = :key`;

async function ended(database: Database, key: string): Promise<void> {
  for (;;) {
    const [job] = await database.run(jobState, { key });
    if (job && !['queued', 'running', 'retry_pending'].includes(job.state)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function answerAll(searcher: Searcher, questions: readonly Question[]) {
  const answered: Answered[] = [];
  for (const { kind, question, pages } of questions) {
    for (const mode of modes) {
      const hits = await searcher.search({ ...scope, query: question, mode, topK: 10 });
      const sources = hits.map(({ sourceUrl }) => sourceUrl);
      const place = sources.findIndex((source) => pages.some((page) => source.endsWith(page)));
      const distinctPages = new Set(sources).size;
      answered.push({ kind, mode, place: place < 0 ? undefined : place + 1, distinctPages });
    }
  }
  return answered;
}

function report(
  answered: readonly Answered[],
  { name, embedder }: Pick<ManualOptions, 'name' | 'embedder'>,
): Section {
  const rows = [...kinds, 'all' as const].flatMap((kind) =>
    modes.map((mode) => {
      const some = answered.filter((row) => row.mode === mode && [row.kind, 'all'].includes(kind));
      return { kind, mode, count: some.length, ...summary(some) };
    }),
  );
  const table: Table = {
    head: ['questions', 'mode', 'asked', 'first', 'in first 10', 'distinct pages in 10'],
    rows: rows.map(({ kind, mode, count, first, firstTen, distinct }) => [
      kind,
      mode,
      String(count),
      String(first),
      String(firstTen),
      distinct.toFixed(1),
    ]),
  };
  const of = (kind: string, mode: Mode) =>
    rows.find((row) => row.kind === kind && row.mode === mode) ?? { count: 0, ...summary([]) };
  const hybrid = of('all', 'hybrid');
  const keyword = of('paraphrased', 'keyword').firstTen;
  const figures: Figure[] = [
    {
      name: 'hybrid, answer page in the first 10',
      value: hybrid.firstTen / hybrid.count,
      digits: 2,
      target: { atLeast: 0.9 },
    },
    {
      name: 'hybrid, answer page first',
      value: hybrid.first / hybrid.count,
      digits: 2,
      target: { atLeast: 0.55 },
    },
    {
      name: 'hybrid, distinct pages in the first 10',
      value: hybrid.distinct,
      digits: 1,
      target: { atLeast: 8 },
    },
    {
      name: 'hybrid, paraphrased, answer pages in the first 10',
      value: of('paraphrased', 'hybrid').firstTen,
      digits: 0,
      target: { atLeast: keyword + 1 },
    },
  ];
  const note = `Embedder ${embedder}. A place counts passages, not pages.`;
  return { title: `Questions on the manual of ${titles[name]}`, note, figures, tables: [table] };
}

const titles: Readonly<Record<ManualName, string>> = {
  python: 'Python',
  git: 'Git',
  sqlite: 'SQLite',
};

function summary(rows: readonly Answered[]) {
  const distinct = rows.reduce((sum, row) => sum + row.distinctPages, 0) / Math.max(rows.length, 1);
  return {
    first: rows.filter(({ place }) => place === 1).length,
    firstTen: rows.filter(({ place }) => place !== undefined).length,
    distinct,
  };
}
