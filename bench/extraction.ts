/**
 * How much of an article is found, and how much else with it, beside Readability alone.
 *
 *   node bench/extraction.ts --data DIR [--trafilatura DIR]
 *
 * DIR: a checkout of scrapinghub/article-extraction-benchmark (ground-truth.json, html/*.html.gz);
 * the second, the `tests` folder of adbar/trafilatura (evaldata.json, cache/, eval/). Rules were
 * tuned on the half of the pages whose name hashes to an even byte, and never looked at the other.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { decodeHtml } from '../src/pipeline/extract/html/charset.ts';
import { extractHtml } from '../src/pipeline/extract/html/extract-html.ts';
import { plainText } from '../src/pipeline/extract/plain-text.ts';
import {
  type Counts,
  countSegments,
  countShingles,
  meanScore,
  sumScore,
} from './extraction-score.ts';

interface Sample {
  readonly name: string;
  readonly read: () => string;
  readonly count: (text: string) => Counts;
}

interface Collection {
  readonly name: string;
  readonly samples: readonly Sample[];
  readonly score: typeof meanScore;
}

type Extractor = (html: string) => string;

const extractors: Readonly<Record<string, Extractor>> = {
  pawl: (html) => {
    const extract = extractHtml(html);
    return extract.found ? plainText(extract.markdown) : '';
  },
  'Readability alone': (html) => {
    const { document } = parseHTML(html);
    return new Readability(document as never).parse()?.textContent ?? '';
  },
};

export function benchExtraction(directories: { data?: string; trafilatura?: string }): void {
  const collections = [
    openArticles(directories.data),
    openTrafilatura(directories.trafilatura),
  ].filter((collection) => collection !== undefined);
  for (const collection of collections) {
    console.log(`\n${collection.name}, ${collection.samples.length} pages`);
    const rows = Object.entries(extractors).map(([name, extract]) =>
      run(name, extract, collection),
    );
    console.table(Object.fromEntries(rows.flat()));
  }
  if (collections.length === 0) {
    console.log('Nothing measured: no collection was found. Give --data or --trafilatura.');
  }
}

function openArticles(directory: string | undefined): Collection | undefined {
  const path = findFile(directory, 'ground-truth.json', '--data');
  if (directory === undefined || path === undefined) return undefined;
  const truth = JSON.parse(readFileSync(path, 'utf8')) as Record<string, { articleBody: string }>;
  const samples = Object.entries(truth).map(([name, { articleBody }]) => ({
    name,
    read: () => decodeHtml(gunzipSync(readFileSync(join(directory, 'html', `${name}.html.gz`)))),
    count: (text: string) => countShingles(articleBody, text),
  }));
  return { name: 'article-extraction-benchmark', samples, score: meanScore };
}

interface Segments {
  readonly file: string;
  readonly with: readonly string[];
  readonly without: readonly string[];
}

function openTrafilatura(directory: string | undefined): Collection | undefined {
  const path = findFile(directory, 'evaldata.json', '--trafilatura');
  if (directory === undefined || path === undefined) return undefined;
  const truth = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Segments>;
  const samples = Object.values(truth).map((segments) => ({
    name: segments.file,
    read: () => {
      const cached = join(directory, 'cache', segments.file);
      const page = existsSync(cached) ? cached : join(directory, 'eval', segments.file);
      return decodeHtml(readFileSync(page));
    },
    count: (text: string) => countSegments(segments, text),
  }));
  return { name: 'trafilatura evaluation', samples, score: sumScore };
}

function findFile(directory: string | undefined, name: string, flag: string): string | undefined {
  const path = join(directory ?? '', name);
  if (directory !== undefined && existsSync(path)) return path;
  console.log(`${flag}: absent${directory === undefined ? '' : ` (no ${path})`}, so not measured`);
  return undefined;
}

function run(name: string, extract: Extractor, { samples, score }: Collection) {
  const counts: { isTuning: boolean; counts: Counts }[] = [];
  let spentMs = 0;
  for (const sample of samples) {
    const html = sample.read();
    const before = process.threadCpuUsage();
    const text = extract(html);
    const { user, system } = process.threadCpuUsage(before);
    spentMs += (user + system) / 1000;
    counts.push({ isTuning: isTuning(sample.name), counts: sample.count(text) });
  }
  const speed = (samples.length / spentMs) * 1000;
  const halves: [string, typeof counts][] = [
    ['all', counts],
    ['tuning half', counts.filter((entry) => entry.isTuning)],
    ['held-out half', counts.filter((entry) => !entry.isTuning)],
  ];
  return halves.map(([half, part]) => {
    const { f1, precision, recall } = score(part.map((entry) => entry.counts));
    const figures = [f1, precision, recall].map((figure) => figure.toFixed(3));
    const row = { F1: figures[0], precision: figures[1], recall: figures[2] };
    return [
      `${name}, ${half}`,
      { ...row, 'pages per CPU second': half === 'all' ? Math.round(speed) : '' },
    ];
  });
}

function isTuning(name: string): boolean {
  return (createHash('sha256').update(name).digest()[0] ?? 0) % 2 === 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { data: { type: 'string' }, trafilatura: { type: 'string' } },
  });
  benchExtraction(values);
}
