/**
 * PDF: its text with headings and tables as Markdown, page by page. Scanned pages go through OCR;
 * pages with text do not.
 */
import { LiteParse, type ParsedPage } from '@llamaindex/liteparse';
import { Failure } from '../../../../kernel/failure/failure.ts';
import { limits } from '../../../../kernel/limits/limits.ts';
import { joinPages } from '../../../page-starts.ts';
import { withLosses } from '../../loss.ts';
import type { Parsed, Parser } from '../../parsed.ts';
import { recognitionDpi, recognize } from '../image/ocr.ts';
import { beyond, damaged, withoutText } from '../refuse.ts';
import { turnOf } from './lines.ts';
import { pageTexts } from './page.ts';
import { pdfProperties } from './properties.ts';
import { readsAsWords } from './readable.ts';
import { unreadPages } from './unread.ts';

const options = {
  quiet: true,
  ocrEnabled: false,
  outputFormat: 'markdown',
  imageMode: 'off',
  extractLinks: false,
  continueOnPageError: true,
  includeComplexity: true,
  extractBlocks: true,
  extractVectorGraphics: true,
  numWorkers: 1,
} as const;

/** A scan may have a stamp or a page number as text. */
const stampCharactersMax = 60;

export const parsePdf: Parser = async ({ bytes: whole, source, withDropped }, signal) => {
  const bytes = withoutPrivateData(fromHeader(whole, source));
  const { pages, broken } = await readUpright(bytes, source, signal);
  const scans = await findScans(bytes, pages, signal);
  const { recognized, failed } = await recognizeScans(bytes, { source, pages, scans }, signal);
  const read = pageTexts(pages);
  const texts = pages.map(({ pageNum: page }, index) => {
    return { page, text: recognized.get(page) ?? read[index] ?? '' };
  });
  const markdown = joinPages(texts);
  if (!hasWords(markdown)) {
    const [failure] = failed.values();
    throw failure ?? withoutText(`${source} ${whyEmpty(pages, scans)}`);
  }
  const { title, meta } = pdfProperties(bytes);
  const total = pages.length + broken;
  const parsed = {
    title,
    language: null,
    markdown,
    pages: texts,
    meta: {
      ...meta,
      pages: total,
      ...countMeta('pages_recognized', recognized.size),
      ...countMeta('pages_not_recognized', scans.length - recognized.size),
      ...countMeta('pages_broken', broken),
    },
  };
  const unread = unreadPages(scans, { recognized, failed, broken, total });
  return withLosses(parsed, { ...unread, withDropped });
};

const headerWithinBytes = 1024 + 5;

/**
 * There may be garbage before the header. Without a header, the library would detect other types.
 */
function fromHeader(bytes: Uint8Array, source: string): Uint8Array {
  const start = Buffer.from(bytes.subarray(0, headerWithinBytes)).indexOf('%PDF-');
  if (start < 0) throw damaged(`${source} does not begin as a PDF does`);
  return bytes.subarray(start);
}

/** Unused names of the same length. */
const privateNames = [
  ['/AIMetaData', '/NoMetaData'],
  ['/AIPrivateData', '/NoPrivateData'],
] as const;

/**
 * A PDF saved by Illustrator also contains the drawing in a private format. The library takes the
 * file for that drawing and refuses it, although all pages are there.
 */
function withoutPrivateData(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!privateNames.some(([name]) => file.includes(name))) return bytes;
  const copy = Buffer.from(file);
  for (const [name, other] of privateNames) {
    for (let at = copy.indexOf(name); at >= 0; at = copy.indexOf(name, at)) copy.write(other, at);
  }
  return copy;
}

function countMeta(name: string, count: number): Parsed['meta'] {
  return count > 0 ? { [name]: count } : {};
}

function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

interface Pages {
  readonly pages: ParsedPage[];
  /** The number of unreadable pages, if others were readable. */
  readonly broken: number;
}

/**
 * On a rotated page with unrotated text, the library tears words apart. Such a file is read again
 * without its rotations.
 */
async function readUpright(bytes: Uint8Array, source: string, signal: AbortSignal): Promise<Pages> {
  const read = await readPages(bytes, source, signal);
  const unturned = read.pages.some(isTurned) ? withoutTurns(bytes) : undefined;
  if (!unturned) return read;
  const again = await readPages(unturned, source, signal);
  const upright = new Map(again.pages.map((page) => [page.pageNum, page]));
  const pages = read.pages.map((page) => {
    const other = isTurned(page) ? upright.get(page.pageNum) : undefined;
    return other && !isTurned(other) ? other : page;
  });
  return { pages, broken: read.broken };
}

function isTurned({ textItems }: ParsedPage): boolean {
  return textItems.filter((item) => turnOf(item) !== 0).length > textItems.length / 2;
}

/** The file without its rotations, if they are uncompressed: of the same length, byte by byte. */
function withoutTurns(bytes: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(bytes).toString('latin1');
  const upright = text.replace(/(\/Rotate\s{0,10})(-?\d{2,4})(?=[\s/>])/g, (_, name, degrees) => {
    return name + '0'.padEnd(degrees.length);
  });
  return upright === text ? undefined : Buffer.from(upright, 'latin1');
}

async function readPages(bytes: Uint8Array, source: string, signal: AbortSignal): Promise<Pages> {
  const { pdfPagesMax, pdfBatchPages } = limits.parse;
  const pages: ParsedPage[] = [];
  let broken = 0;
  try {
    const parser = new LiteParse({ ...options, maxPages: pdfPagesMax });
    for await (const batch of parser.parseBatches(bytes, { batchSize: pdfBatchPages })) {
      signal.throwIfAborted();
      if (batch.totalPages > pdfPagesMax) {
        throw beyond('pages', `${source} has ${batch.totalPages} of ${pdfPagesMax} pages`);
      }
      pages.push(...batch.result.pages);
      broken += batch.result.pageErrors.length;
    }
  } catch (error) {
    if (signal.aborted || error instanceof Failure) throw error;
    throw failureOf(error, source);
  }
  if (pages.length === 0 && broken > 0) throw damaged(`${source} has no page that can be read`);
  return { pages, broken };
}

/** The library distinguishes its errors only by message. */
function failureOf(error: unknown, source: string): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (/password|encrypt|security handler/i.test(message)) {
    return new Failure('encrypted_document', `${source} is protected by a password`, {
      cause: error,
    });
  }
  return damaged(`${source} cannot be read as a PDF: ${message.slice(0, 200)}`, error);
}

/**
 * A page without words that shows something, or whose letters have no meaning. The library also
 * reports codes and signs among words as such. OCR takes as long as reading hundreds of pages, and
 * loses headings and tables.
 */
function isScan({ text, complexity }: ParsedPage): boolean {
  if (!complexity) return false;
  const { fullPageImage, hasSubstantialImages, imageCoverage, isGarbled } = complexity;
  if (isGarbled && !readsAsWords(text)) return true;
  const letters = text.replace(/[^\p{L}\p{N}]/gu, '').length;
  if (fullPageImage) return letters <= stampCharactersMax;
  const isDrawn = (complexity.uncoveredVectorArea ?? 0) > 0;
  return letters === 0 && (hasSubstantialImages || imageCoverage > 0 || isDrawn);
}

/**
 * A picture inside a form object is not counted as a picture. A page without text that is not a
 * single colour shows something.
 */
async function findScans(
  bytes: Uint8Array,
  pages: readonly ParsedPage[],
  signal: AbortSignal,
): Promise<ParsedPage[]> {
  const scans: ParsedPage[] = [];
  for (const page of pages) {
    signal.throwIfAborted();
    if (
      isScan(page) ||
      (page.complexity?.reasons.includes('no-text') &&
        page.text.trim() === '' &&
        (await showsSomething(bytes, page.pageNum)))
    )
      scans.push(page);
  }
  return scans;
}

/** Enough to see whether there is anything. */
const glanceDpi = 20;

async function showsSomething(bytes: Uint8Array, page: number): Promise<boolean> {
  const parser = new LiteParse({
    ...options,
    extractScreenshots: true,
    targetPages: `${page}`,
    dpi: glanceDpi,
  });
  const { screenshots } = await parser.parse(bytes);
  return screenshots.some(({ isSolidFill }) => !isSolidFill);
}

interface Scanned extends Pick<Pages, 'pages'> {
  readonly source: string;
  readonly scans: readonly ParsedPage[];
}

interface Recognized {
  readonly recognized: ReadonlyMap<number, string>;
  /** A page that fails in OCR does not fail the others. */
  readonly failed: ReadonlyMap<number, Failure>;
}

async function recognizeScans(
  bytes: Uint8Array,
  { source, pages, scans }: Scanned,
  signal: AbortSignal,
): Promise<Recognized> {
  const { ocrPagesMax } = limits.parse;
  if (scans.length > ocrPagesMax && 2 * scans.length > pages.length) {
    throw beyond('scans', `${source} has ${scans.length} of ${ocrPagesMax} scanned pages`);
  }
  const recognized = new Map<number, string>();
  const failed = new Map<number, Failure>();
  for (const { pageNum, width, height } of scans.slice(0, ocrPagesMax)) {
    const dpi = recognitionDpi({ width, height });
    try {
      recognized.set(pageNum, await recognize(bytes, { page: pageNum, dpi }, signal));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failed.set(pageNum, error);
    }
  }
  return { recognized, failed };
}

function whyEmpty(pages: readonly ParsedPage[], scans: readonly ParsedPage[]): string {
  if (pages.length === 0) return 'is a PDF without pages';
  return scans.length > 0
    ? 'is a scan in which no text can be recognized: submit a sharper or upright one'
    : 'is a PDF of empty pages';
}
