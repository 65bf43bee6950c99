/**
 * Where the pages of a document begin in its text, stored in its `meta` as
 * `page:offset,page:offset`, because `meta` travels with the text. Pages without text are skipped.
 * A document without pages has none.
 */
import type { NewChunk } from '../store/document/chunks.ts';
import type { PageText, Parsed } from './extract/parsed.ts';

/** For pages that follow each other in the text, separated by an empty line. */
export function pageStartsOf(pages: readonly PageText[]): string {
  let offset = 0;
  const starts: string[] = [];
  for (const { page, text } of pages) {
    if (text === '') continue;
    starts.push(`${page}:${offset}`);
    offset += text.length + pageBreak.length;
  }
  return starts.join(',');
}

export const pageBreak = '\n\n';

export function joinPages(pages: readonly PageText[]): string {
  return pages
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join(pageBreak);
}

/**
 * The chunks, in text order, with the page on which each begins. `meta` is null for texts that were
 * stored before `meta` existed.
 */
export function withPages(
  chunks: readonly NewChunk[],
  meta: Parsed['meta'] | null,
): readonly NewChunk[] {
  const starts = readStarts(meta?.page_starts);
  if (starts.length === 0) return chunks;
  let at = 0;
  return chunks.map((chunk) => {
    while ((starts[at + 1]?.offset ?? Number.POSITIVE_INFINITY) <= chunk.startOffset) at += 1;
    return { ...chunk, page: starts[at]?.page };
  });
}

interface PageStart {
  readonly page: number;
  readonly offset: number;
}

function readStarts(written: unknown): PageStart[] {
  if (typeof written !== 'string') return [];
  return [...written.matchAll(/(\d{1,9}):(\d{1,9})/g)].map(([, page, offset]) => ({
    page: Number(page),
    offset: Number(offset),
  }));
}
