/**
 * How much of a document survives extraction, genre by genre, next to the peers on the same files.
 * bench/README.md defines the truth of each genre.
 */
import type { Figure, Section, Table } from '../measure/figure.ts';
import {
  type Document,
  type Gathered,
  gatherArticles,
  gatherManuals,
  gatherOfficeFiles,
  gatherPdfs,
} from './documents.ts';
import {
  type Extractor,
  type Extractors,
  htmlExtractors,
  pawl,
  pdfExtractors,
} from './extractors.ts';
import { compare, keptWords, type Score, subtract, sumScores } from './meter.ts';
import { manuals } from './packages.ts';

export interface FidelityOptions {
  readonly data: string | undefined;
  readonly seed: number;
  /** Words that the title of a genre must contain. */
  readonly only: readonly string[];
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

interface Genre {
  readonly title: string;
  readonly gather: () => Gathered;
  readonly start: () => Extractors;
  readonly note: string;
  /** In percent; the targets of Pawl. */
  readonly targets?: Readonly<Record<string, number>>;
}

export async function benchFidelity(options: FidelityOptions): Promise<Section[]> {
  const { data, seed, only, isQuick, tell } = options;
  let html: Extractors | undefined;
  const startHtml = () => {
    html ??= htmlExtractors(tell);
    return html;
  };
  const sampling = { pages: isQuick ? 5 : 25, seed };
  const genres: readonly Genre[] = [
    {
      title: 'Articles',
      gather: () => gatherArticles(data),
      start: startHtml,
      note: 'Truth: article bodies found by hand.',
    },
    {
      title: 'Documentation',
      gather: () => gatherManuals(sampling),
      start: startHtml,
      note: `Truth: the page without its navigation. Pages chosen with seed ${seed}.`,
      targets: { 'words lost': 1, 'headings lost': 2, noise: 2 },
    },
    {
      title: 'PDF',
      gather: gatherPdfs,
      start: pdfExtractors,
      note: 'Truth: the HTML edition of each manual.',
    },
    {
      title: 'EPUB and office files',
      gather: gatherOfficeFiles,
      note: 'Truth: the HTML that each file was made of.',
      start: () => ({ extractors: [pawl], absent: [] }),
    },
  ];
  const sections: Section[] = [];
  const isAsked = ({ title }: Genre) =>
    only.every((word) => title.toLowerCase().includes(word.toLowerCase()));
  for (const genre of genres.filter(isAsked)) sections.push(await measure(genre, options));
  for (const { close } of html?.extractors ?? []) close?.();
  return sections;
}

interface Result {
  readonly extractor: Extractor;
  readonly scores: readonly Score[];
  readonly worst: readonly Loss[];
  readonly ms: number;
}

interface Loss {
  readonly name: string;
  readonly score: Score;
  readonly lost: string;
}

async function measure(genre: Genre, { isQuick, tell }: FidelityOptions): Promise<Section> {
  const gathered = genre.gather();
  const documents = isQuick ? gathered.documents.slice(0, 50) : gathered.documents;
  const started = genre.start();
  const results: Result[] = [];
  for (const extractor of started.extractors) {
    tell(`fidelity: ${genre.title}, ${documents.length} documents, ${extractor.name}`);
    results.push(await runExtractor(extractor, documents));
  }
  const absent = [...gathered.absent, ...started.absent].map(
    (reason) => `Not measured: ${reason}.`,
  );
  const own = results[0]?.scores ?? [];
  return {
    title: `Fidelity: ${genre.title}`,
    note: [genre.note, ...absent].join('\n\n'),
    figures: figuresOf(sumScores(own), genre.targets ?? {}),
    tables: [
      tableOf(results.map(({ extractor, scores, ms }) => ({ name: extractor.name, scores, ms }))),
      ...groupTable(documents, own),
      worstTable(results[0]?.worst ?? []),
    ],
  };
}

async function runExtractor(extractor: Extractor, documents: readonly Document[]): Promise<Result> {
  const scores: Score[] = [];
  const losses: Loss[] = [];
  let spentMs = 0;
  for (const document of documents) {
    const { given, ms } = await extractor.extract(document);
    const score = compare(document.truth, given);
    const missing = subtract(document.truth.words, keptWords(document.truth, given));
    losses.push({ name: document.name, score, lost: missing.slice(0, wordsShown).join(' ') });
    scores.push(score);
    spentMs += ms;
  }
  losses.sort((left, right) => right.score.wordsLost - left.score.wordsLost);
  return { extractor, scores, worst: losses.slice(0, worstShown), ms: spentMs };
}

const worstShown = 10;
const wordsShown = 12;

const percent = (part: number, whole: number) => (whole === 0 ? Number.NaN : (100 * part) / whole);

interface Measure {
  readonly name: string;
  readonly digits: number;
  readonly of: (score: Score) => number;
}

const measures: readonly Measure[] = [
  { name: 'words lost', digits: 2, of: (score) => percent(score.wordsLost, score.words) },
  { name: 'headings lost', digits: 1, of: (score) => percent(score.headingsLost, score.headings) },
  { name: 'noise', digits: 1, of: (score) => percent(score.wordsNoise, score.wordsKept) },
  { name: 'rows exact', digits: 1, of: (score) => percent(score.rowsExact, score.rows) },
  { name: 'titles right', digits: 1, of: (score) => percent(score.titlesRight, score.titles) },
];

function figuresOf(total: Score, targets: Readonly<Record<string, number>>): Figure[] {
  return measures.flatMap(({ name, digits, of }) => {
    const atMost = targets[name];
    if (atMost === undefined || total.documents === 0) return [];
    return [{ name: `Pawl, ${name}`, value: of(total), digits, unit: '%', target: { atMost } }];
  });
}

interface Row {
  readonly name: string;
  readonly scores: readonly Score[];
  readonly ms?: number;
}

function tableOf(rows: readonly Row[]): Table {
  const named = measures.map(({ name }) => `${name} %`);
  const head = ['', 'documents', 'words', ...named, 'keep < 80 %', 'seconds'];
  return {
    head,
    rows: rows.map(({ name, scores, ms }) => {
      const total = sumScores(scores);
      const values = measures.map(({ of, digits }) => {
        const value = of(total);
        return Number.isNaN(value) ? '–' : value.toFixed(digits);
      });
      const counts = [total.documents, total.words].map((count) => count.toLocaleString('en'));
      const seconds = ms === undefined ? '' : (ms / 1000).toFixed(1);
      return [name, ...counts, ...values, String(total.documentsBelow), seconds];
    }),
  };
}

/** What Pawl keeps of each package or format. */
function groupTable(documents: readonly Document[], scores: readonly Score[]): Table[] {
  const groups = new Map<string, Score[]>();
  for (const [index, { group }] of documents.entries()) {
    const score = scores[index];
    if (score !== undefined) groups.set(group, [...(groups.get(group) ?? []), score]);
  }
  if (groups.size < 2) return [];
  const generator = (group: string) => manuals.find(({ name }) => name === group)?.generator;
  const rows = [...groups].map(([group, own]) => {
    const made = generator(group);
    return { name: made === undefined ? group : `${group} (${made})`, scores: own };
  });
  return [tableOf(rows)];
}

function worstTable(worst: readonly Loss[]): Table {
  return {
    head: ['most words lost by Pawl', 'words', 'lost', 'headings lost', 'first of them'],
    rows: worst.map(({ name, score, lost }) => {
      const headings = `${score.headingsLost} of ${score.headings}`;
      return [name, String(score.words), String(score.wordsLost), headings, lost];
    }),
  };
}
