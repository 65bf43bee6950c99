/**
 * How much of an article is found, and how much noise, next to Readability alone. The first folder
 * is a checkout of scrapinghub/article-extraction-benchmark (ground-truth.json, html/*.html.gz);
 * the second, the `tests` folder of adbar/trafilatura (evaldata.json, cache/, eval/). Rules were
 * tuned only on the half of the pages whose name hashes to an even byte.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Readability } from '@mozilla/readability';
import { decodeHtml } from '../src/pipeline/extract/format/text/decode-text.ts';
import { extractHtml } from '../src/pipeline/extract/html/extract-html.ts';
import { parseTree } from '../src/pipeline/extract/html/tree/document.ts';
import { plainText } from '../src/pipeline/extract/plain-text.ts';
import {
  type Counts,
  countSegments,
  countShingles,
  meanScore,
  sumScore,
} from './extraction-score.ts';
import type { Figure, Section } from './measure/figure.ts';

interface Sample {
  readonly name: string;
  readonly read: () => string;
  readonly count: (text: string) => Counts;
}

interface Collection {
  readonly name: string;
  readonly samples: readonly Sample[];
  readonly score: typeof meanScore;
  /** The target F1 over all pages. */
  readonly target: number;
}

type Extractor = (html: string) => string;

const extractors: Readonly<Record<string, Extractor>> = {
  pawl: (html) => {
    const extract = extractHtml(html);
    return extract.found ? plainText(extract.markdown) : '';
  },
  'Readability alone': (html) => {
    const document = parseTree(html);
    return new Readability(document as never).parse()?.textContent ?? '';
  },
};

export interface ExtractionOptions {
  readonly data: string | undefined;
  readonly trafilatura: string | undefined;
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

export function benchExtraction(options: ExtractionOptions): Section[] {
  const { data, trafilatura, isQuick, tell } = options;
  const collections = [openArticles(data, tell), openTrafilatura(trafilatura, tell)];
  return collections.flatMap((collection) => {
    if (collection === undefined) return [];
    const samples = isQuick ? collection.samples.slice(0, 20) : collection.samples;
    tell(`extraction: ${collection.name}, ${samples.length} pages`);
    const figures = Object.entries(extractors).flatMap(([name, extract]) =>
      run(name, extract, { ...collection, samples }),
    );
    const note = `${samples.length} pages; pages per second of processor time, on one core.`;
    return [{ title: `Extraction: ${collection.name}`, note, figures }];
  });
}

type Tell = (line: string) => void;

function openArticles(directory: string | undefined, tell: Tell): Collection | undefined {
  const path = findFile(directory, 'ground-truth.json');
  if (path === undefined) {
    tell('Article benchmark: skipped. Give its checkout (ground-truth.json) with --data DIR.');
  }
  if (directory === undefined || path === undefined) return undefined;
  const truth = JSON.parse(readFileSync(path, 'utf8')) as Record<string, { articleBody: string }>;
  const samples = Object.entries(truth).map(([name, { articleBody }]) => ({
    name,
    read: () => decodeHtml(gunzipSync(readFileSync(join(directory, 'html', `${name}.html.gz`)))),
    count: (text: string) => countShingles(articleBody, text),
  }));
  return { name: 'article-extraction-benchmark', samples, score: meanScore, target: 0.972 };
}

interface Segments {
  readonly file: string;
  readonly with: readonly string[];
  readonly without: readonly string[];
}

function openTrafilatura(directory: string | undefined, tell: Tell): Collection | undefined {
  const path = findFile(directory, 'evaldata.json');
  if (path === undefined) {
    tell('Trafilatura: skipped. Give its folder `tests` (evaldata.json) with --trafilatura DIR.');
  }
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
  return { name: 'trafilatura evaluation', samples, score: sumScore, target: 0.927 };
}

function findFile(directory: string | undefined, name: string): string | undefined {
  const path = join(directory ?? '', name);
  return directory !== undefined && existsSync(path) ? path : undefined;
}

function run(name: string, extract: Extractor, { samples, score, target }: Collection): Figure[] {
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
  const isOwn = name === 'pawl';
  const halves: [string, typeof counts][] = [
    ['all', counts],
    ['tuning half', counts.filter((entry) => entry.isTuning)],
    ['held-out half', counts.filter((entry) => !entry.isTuning)],
  ];
  const figures = halves.flatMap(([half, part]): Figure[] => {
    const { f1, precision, recall } = score(part.map((entry) => entry.counts));
    const asked = isOwn && half === 'all' ? { target: { atLeast: target } } : {};
    return [
      { name: `${name}, ${half}, F1`, value: f1, digits: 3, ...asked },
      { name: `${name}, ${half}, precision`, value: precision, digits: 3 },
      { name: `${name}, ${half}, recall`, value: recall, digits: 3 },
    ];
  });
  const speed = (samples.length / spentMs) * 1000;
  const asked = isOwn ? { target: { atLeast: 50 } } : {};
  return [...figures, { name: `${name}, pages per second`, value: speed, digits: 0, ...asked }];
}

function isTuning(name: string): boolean {
  return (createHash('sha256').update(name).digest()[0] ?? 0) % 2 === 0;
}
