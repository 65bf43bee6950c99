/** Pawl and the peers: each turns a document into what the meter compares. */
import { spawnSync } from 'node:child_process';
import { Readability } from '@mozilla/readability';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { parse } from '../../src/pipeline/extract/format/parse.ts';
import { decodeHtml } from '../../src/pipeline/extract/format/text/decode-text.ts';
import { parseTree } from '../../src/pipeline/extract/html/tree/document.ts';
import { needProgram } from './debian.ts';
import type { Document } from './documents.ts';
import { readHtmlPage } from './html-page.ts';
import { readMarkdownPage } from './markdown-page.ts';
import { type Readable, wordsOf } from './meter.ts';
import { installTrafilatura, startTrafilatura, trafilaturaVersion } from './trafilatura.ts';

export interface Extractor {
  readonly name: string;
  extract(document: Document): Promise<Extraction>;
  close?(): void;
}

export interface Extraction {
  readonly given: Readable;
  readonly ms: number;
}

/** The extractors that ran, and why the others did not. */
export interface Extractors {
  readonly extractors: readonly Extractor[];
  readonly absent: readonly string[];
}

const nothing: Readable = { words: [], headings: [], rows: [], title: '' };
const pdfBytesMax = 200_000_000;

export const pawl: Extractor = {
  name: 'Pawl',
  extract: async ({ bytes, mediaType, name }) => {
    const startedAt = performance.now();
    const input = { bytes, mediaType, source: name };
    const parsed = await parse(input, new AbortController().signal).catch((error: unknown) => {
      // A refused document has lost all of its words, and is measured as such.
      if (error instanceof Failure) return { markdown: '', title: null };
      throw error;
    });
    const ms = performance.now() - startedAt;
    return { given: readMarkdownPage(parsed.markdown, parsed.title ?? ''), ms };
  },
};

const readability: Extractor = {
  name: 'Mozilla Readability 0.6.0',
  extract: async ({ bytes }) => {
    const startedAt = performance.now();
    const article = new Readability(parseTree(decodeHtml(bytes)) as never).parse();
    const ms = performance.now() - startedAt;
    if (!article) return { given: nothing, ms };
    const page = readHtmlPage(article.content ?? '', 'all');
    return { given: { ...page, title: wordsOf(article.title ?? '').join(' ') }, ms };
  },
};

const pdftotext: Extractor = {
  name: 'pdftotext',
  extract: async ({ bytes }) => {
    const startedAt = performance.now();
    const options = { input: bytes, encoding: 'utf8', maxBuffer: pdfBytesMax } as const;
    const { stdout } = spawnSync('pdftotext', ['-enc', 'UTF-8', '-', '-'], options);
    const ms = performance.now() - startedAt;
    return { given: { words: wordsOf(stdout) }, ms };
  },
};

export function pdfExtractors(): Extractors {
  const problem = needProgram('pdftotext', 'poppler-utils');
  if (problem !== undefined) return { extractors: [pawl], absent: [`pdftotext: ${problem}`] };
  const { stderr } = spawnSync('pdftotext', ['-v'], { encoding: 'utf8' });
  const version = /version (\S+)/.exec(stderr)?.[1] ?? '';
  return { extractors: [pawl, { ...pdftotext, name: `pdftotext ${version}` }], absent: [] };
}

export function htmlExtractors(tell: (line: string) => void): Extractors {
  const problem = installTrafilatura(tell);
  if (problem !== undefined) {
    return { extractors: [pawl, readability], absent: [`trafilatura: ${problem}`] };
  }
  const process = startTrafilatura();
  const trafilatura = (name: string, recall: boolean): Extractor => ({
    name,
    extract: async ({ bytes }) => {
      const { markdown, title, ms } = await process.ask({ html: decodeHtml(bytes), recall });
      return { given: readMarkdownPage(markdown, title), ms };
    },
    close: process.close,
  });
  const name = `trafilatura ${trafilaturaVersion}`;
  const both = [trafilatura(name, false), trafilatura(`${name}, favor_recall`, true)];
  return { extractors: [pawl, readability, ...both], absent: [] };
}
