/** The documents of each genre, with their ground truth. */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { decodeHtml } from '../../src/pipeline/extract/format/text/decode-text.ts';
import { mediaTypeOf } from '../../src/pipeline/fetch/http/media-type.ts';
import { chanceFrom } from '../pipeline/pages.ts';
import { needProgram, run, unpack } from './debian.ts';
import { type HtmlPage, readHtmlPage } from './html-page.ts';
import { type Readable, wordsOf } from './meter.ts';
import { type Edition, editions, manuals, type Place } from './packages.ts';

export interface Document {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly truth: Readable;
  /** The package or the format: documents of one group are also reported together. */
  readonly group: string;
}

export interface Gathered {
  readonly documents: readonly Document[];
  /** Missing documents, with the reason. */
  readonly absent: readonly string[];
}

export interface Sampling {
  /** Per package. */
  readonly pages: number;
  readonly seed: number;
}

export function gatherArticles(directory: string | undefined): Gathered {
  const path = join(directory ?? '', 'ground-truth.json');
  if (directory === undefined || !existsSync(path)) {
    const wanted = 'a checkout of the article extraction benchmark (ground-truth.json, html/)';
    return { documents: [], absent: [`articles: give ${wanted} with --data DIR`] };
  }
  const truth = JSON.parse(readFileSync(path, 'utf8')) as Record<string, { articleBody: string }>;
  const documents = Object.entries(truth).map(([name, { articleBody }]) => ({
    name,
    bytes: gunzipSync(readFileSync(join(directory, 'html', `${name}.html.gz`))),
    mediaType: 'text/html',
    truth: { words: wordsOf(articleBody) },
    group: 'articles',
  }));
  return { documents, absent: [] };
}

export function gatherManuals({ pages, seed }: Sampling): Gathered {
  return together(
    manuals.map(({ name, folder }) => {
      const unpacked = unpack(name);
      if ('problem' in unpacked) return { documents: [], absent: [unpacked.problem] };
      const cwd = join(unpacked.root, folder);
      const files = shuffle(globSync('**/*.{html,htm}', { cwd }).sort(), seed);
      const documents: Document[] = [];
      for (const file of files) {
        if (documents.length === pages) break;
        const bytes = readFileSync(join(cwd, file));
        const truth = readHtmlPage(decodeHtml(bytes));
        const page = { name: `${name}/${file}`, bytes, mediaType: 'text/html', group: name };
        if (isTelling(truth)) documents.push({ ...page, truth });
      }
      return { documents, absent: [] };
    }),
  );
}

/** Shorter pages are mostly navigation. What to keep of a page of links is a matter of taste. */
function isTelling({ words, wordsLinked }: HtmlPage): boolean {
  return words.length >= 100 && wordsLinked <= 0.6 * words.length;
}

export function gatherPdfs(): Gathered {
  return together(editions.map(({ name, pdf, html }) => gatherEdition(name, pdf, html)));
}

/** EPUBs from packages, and office files that pandoc makes of one-page HTML editions. */
export function gatherOfficeFiles(): Gathered {
  const books = editions.map(({ name, epub, html }) =>
    epub === undefined ? together([]) : gatherEdition(name, epub, html),
  );
  const problem = needProgram('pandoc', 'pandoc');
  if (problem !== undefined) {
    return together([...books, { documents: [], absent: [`office files: ${problem}`] }]);
  }
  const single = editions.filter(({ html }) => !html.path.includes('*'));
  return together([...books, ...single.map(makeOfficeFiles)]);
}

function gatherEdition(name: string, place: Place, html: Place): Gathered {
  const [file, pages] = [readPlace(place), readPlace(html)];
  const problems = [file, pages].flatMap((read) => ('problem' in read ? [read.problem] : []));
  if ('problem' in file || 'problem' in pages) return { documents: [], absent: problems };
  const [bytes = new Uint8Array()] = file.files;
  const group = place.path.includes('.pdf') ? 'PDF' : 'EPUB';
  const mediaType = mediaTypeOf(place.path.replace(/\.gz$/, ''), bytes) ?? '';
  const truth = joinPages(pages.files.map((page) => readHtmlPage(decodeHtml(page))));
  return { documents: [{ name, bytes, mediaType, truth, group }], absent: [] };
}

const officeFormats = ['docx', 'odt', 'rtf'];

/** Pandoc converts the whole page, including navigation: all of it is the truth. */
function makeOfficeFiles({ name, html }: Edition): Gathered {
  const read = readPlace(html);
  if ('problem' in read) return { documents: [], absent: [read.problem] };
  const [page = new Uint8Array()] = read.files;
  const truth = readHtmlPage(decodeHtml(page), 'all');
  const folder = mkdtempSync(join(tmpdir(), 'pawl-fidelity-'));
  writeFileSync(join(folder, 'page.html'), page);
  const made = officeFormats.map((format): Gathered => {
    const file = `page.${format}`;
    const args = ['--standalone', '--from', 'html', '--output', file, 'page.html'];
    const problem = run('pandoc', args, folder);
    if (problem !== undefined) return { documents: [], absent: [problem] };
    const bytes = readFileSync(join(folder, file));
    const mediaType = mediaTypeOf(file, bytes) ?? '';
    const document = { name: `${name}.${format}`, bytes, mediaType, truth };
    return { documents: [{ ...document, group: format.toUpperCase() }], absent: [] };
  });
  rmSync(folder, { recursive: true });
  return together(made);
}

type Read = { readonly files: readonly Uint8Array[] } | { readonly problem: string };

function readPlace({ package: name, path }: Place): Read {
  const unpacked = unpack(name);
  if ('problem' in unpacked) return unpacked;
  const files = globSync(path, { cwd: unpacked.root })
    .sort()
    .map((file) => {
      const bytes = readFileSync(join(unpacked.root, file));
      return file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    });
  return files.length === 0 ? { problem: `${name} does not hold ${path}` } : { files };
}

/** The pages of one document. If there are several, none has the title of the whole. */
function joinPages(pages: readonly HtmlPage[]): Readable {
  return {
    words: pages.flatMap(({ words }) => words),
    headings: pages.flatMap(({ headings = [] }) => headings),
    rows: pages.flatMap(({ rows = [] }) => rows),
    title: pages.length === 1 ? pages[0]?.title : undefined,
  };
}

function together(parts: readonly Gathered[]): Gathered {
  return {
    documents: parts.flatMap(({ documents }) => documents),
    absent: [...new Set(parts.flatMap(({ absent }) => absent))],
  };
}

/** Deterministic: the same order for the same seed, on every machine. */
export function shuffle<Entry>(entries: readonly Entry[], seed: number): Entry[] {
  const chance = chanceFrom(seed);
  const order = [...entries];
  for (let index = order.length - 1; index > 0; index -= 1) {
    const other = Math.floor(chance() * (index + 1));
    const here = order[index] as Entry;
    order[index] = order[other] as Entry;
    order[other] = here;
  }
  return order;
}
