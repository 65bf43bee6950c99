/** Real pages from Debian packages, with the words that each should keep. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpack } from '../fidelity/debian.ts';
import { gatherManuals, shuffle } from '../fidelity/documents.ts';
import { readMarkdownPage } from '../fidelity/markdown-page.ts';
import type { Readable } from '../fidelity/meter.ts';
import { manuals } from '../fidelity/packages.ts';

export interface Page {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly truth: Readable;
}

export interface ChosenPages {
  readonly pages: readonly Page[];
  readonly absent: readonly string[];
}

/** Packages whose documentation is Markdown. */
const markdownPackages = [
  { name: 'npm', folder: 'usr/share/doc' },
  { name: 'golang-github-docker-docker-dev', folder: 'usr/share/gocode/src/github.com' },
];
const markdownShare = 0.1;
const wordsMin = 100;
/** Whole manuals on one page would be most of the work. */
const bytesMax = 256 * 1024;

export function choosePages({ count, seed }: { count: number; seed: number }): ChosenPages {
  const markdown = gatherMarkdown(seed);
  const some = markdown.pages.slice(0, Math.round(markdownShare * count));
  // Packages with few pages leave room for the others.
  const perPackage = Math.ceil((2 * count) / manuals.length);
  const html = gatherManuals({ pages: perPackage, seed });
  const others = shuffle(html.documents, seed)
    .filter(({ bytes }) => bytes.length <= bytesMax)
    .map(({ name, bytes, truth }) => ({ name, bytes, truth }));
  const pages = [...some, ...others.slice(0, count - some.length)];
  const named = pages.map((page, index) => ({ ...page, name: fileName(page.name, index) }));
  return { pages: named, absent: [...html.absent, ...markdown.absent] };
}

export function writePages(pages: readonly Page[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { name, bytes } of pages) writeFileSync(join(folder, name), bytes);
}

function gatherMarkdown(seed: number): ChosenPages {
  const absent: string[] = [];
  const found = markdownPackages.flatMap(({ name, folder }) => {
    const unpacked = unpack(name);
    if ('problem' in unpacked) {
      absent.push(unpacked.problem);
      return [];
    }
    const cwd = join(unpacked.root, folder);
    return globSync('**/*.md{,.gz}', { cwd })
      .sort()
      .map((file) => markdownPage(`${name}/${file}`, readFileSync(join(cwd, file))));
  });
  const isTelling = ({ truth }: Page): boolean => truth.words.length >= wordsMin;
  return { pages: shuffle(found.filter(isTelling), seed), absent };
}

function markdownPage(path: string, read: Uint8Array): Page {
  const bytes = path.endsWith('.gz') ? gunzipSync(read) : read;
  const { words } = readMarkdownPage(new TextDecoder().decode(bytes), undefined);
  return { name: path.replace(/\.gz$/, ''), bytes, truth: { words } };
}

/** Flat, and alike for all products: some keep only the last part of a path. */
function fileName(path: string, index: number): string {
  const [name = ''] = path.split('/');
  const extension = extname(path) === '.md' ? '.md' : '.html';
  return `${String(index).padStart(4, '0')}-${name}${extension}`;
}
