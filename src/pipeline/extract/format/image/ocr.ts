/**
 * Recognizes the text of one page or picture. Words come in reading order; lines and paragraphs are
 * derived from their positions.
 */
import {
  LiteParse,
  type LiteParseConfig,
  type ParsedPage,
  type ParseResult,
} from '@llamaindex/liteparse';
import { Failure } from '../../../../kernel/failure/failure.ts';
import { limits } from '../../../../kernel/limits/limits.ts';
import { damaged } from '../refuse.ts';
import { ocrFolder } from './ocr-model.ts';
import { turnUpsideDown } from './png-rotate.ts';

export interface Recognition {
  /** The page number in a PDF; a picture has one page. */
  readonly page: number;
  readonly dpi: number;
}

/** Below this, small print is lost; above, it only takes longer. */
const dpiWanted = 200;
const pointsPerInch = 72;

/** For a page size in points. A poster is rendered at a lower resolution. */
export function recognitionDpi({ width, height }: { width: number; height: number }): number {
  const inches = Math.max((width / pointsPerInch) * (height / pointsPerInch), 1e-6);
  const most = Math.sqrt(limits.parse.ocrPixelsMax / inches);
  return Math.max(1, Math.floor(Math.min(dpiWanted, most)));
}

/** Below this, the page is also tried upside down: upright text has 0.9 and more. */
const surenessMin = 0.8;
/** The resolution at which pictures are placed on a page. */
export const pictureDpi = 150;

export async function recognize(
  bytes: Uint8Array,
  { page, dpi }: Recognition,
  signal: AbortSignal,
): Promise<string> {
  const upright = await readWords(bytes, { page, dpi }, signal);
  if (upright.length === 0 || sureness(upright) >= surenessMin) return toLines(upright);
  const turned = turnUpsideDown(await render(bytes, { page, dpi }, signal));
  if (!turned) return toLines(upright);
  const other = await readWords(turned, { page: 1, dpi: pictureDpi }, signal);
  return toLines(sureness(other) > sureness(upright) ? other : upright);
}

/** Weighted by words, not by letters: a few confident words outweigh none. */
function sureness(words: readonly Word[]): number {
  const sum = words.reduce((total, { confidence }) => total + confidence, 0);
  return words.length === 0 ? 0 : sum / words.length;
}

async function readWords(
  bytes: Uint8Array,
  { page, dpi }: Recognition,
  signal: AbortSignal,
): Promise<Word[]> {
  const tessdataPath = await ocrFolder();
  const { pages } = await run(bytes, signal, {
    outputFormat: 'json',
    ocrEnabled: true,
    ocrLanguage: 'eng',
    tessdataPath,
    targetPages: `${page}`,
    dpi,
  });
  const [found] = pages;
  return found ? uprightWords(found) : [];
}

async function render(
  bytes: Uint8Array,
  { page, dpi }: Recognition,
  signal: AbortSignal,
): Promise<Buffer> {
  const wanted = { ocrEnabled: false, extractScreenshots: true, targetPages: `${page}`, dpi };
  const { screenshots } = await run(bytes, signal, wanted);
  return screenshots[0]?.imageBuffer ?? Buffer.alloc(0);
}

async function run(
  bytes: Uint8Array,
  signal: AbortSignal,
  options: Partial<LiteParseConfig>,
): Promise<ParseResult> {
  signal.throwIfAborted();
  try {
    return await new LiteParse({ quiet: true, imageMode: 'off', numWorkers: 1, ...options }).parse(
      bytes,
    );
  } catch (error) {
    if (error instanceof Failure) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw damaged(`the picture cannot be read: ${why.slice(0, 200)}`, error);
  }
}

interface Word {
  readonly text: string;
  readonly confidence: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const wideWord = /[\p{L}\p{N}]{3}/u;

/**
 * Dust is read as characters with low confidence. The words of a sideways page are recognized, but
 * in columns: the page is rotated so that they form lines.
 */
function uprightWords({ textItems, width: pageWidth }: ParsedPage): Word[] {
  const words = textItems
    .map(({ confidence = 1, ...item }) => ({ ...item, confidence }))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  const wide = words.filter(({ text }) => wideWord.test(text));
  const isOnItsSide = wide.filter(({ width, height }) => height > width).length > wide.length / 2;
  if (!isOnItsSide) return words;
  return words
    .map(({ text, confidence, x, y, width, height }) => {
      const turned = { x: y, y: pageWidth - x - width, width: height, height: width };
      return { text, confidence, ...turned };
    })
    .toSorted(byLine);
}

function byLine(one: Word, other: Word): number {
  const isSameLine = Math.abs(one.y - other.y) < Math.min(one.height, other.height) / 2;
  return isSameLine ? one.x - other.x : one.y - other.y;
}

const confidenceMin = 0.4;

interface Line {
  readonly words: string[];
  top: number;
  bottom: number;
  right: number;
}

function toLines(words: readonly Word[]): string {
  const lines: Line[] = [];
  for (const item of words.filter(({ confidence }) => confidence >= confidenceMin)) {
    const line = lines.at(-1);
    const [top, bottom, right] = [item.y, item.y + item.height, item.x + item.width];
    const isSame = line && (top + bottom) / 2 < line.bottom && item.x >= line.right - item.height;
    if (line && isSame) {
      line.words.push(item.text.trim());
      line.top = Math.min(line.top, top);
      line.bottom = Math.max(line.bottom, bottom);
      line.right = right;
    } else lines.push({ words: [item.text.trim()], top, bottom, right });
  }
  let text = '';
  lines.forEach((line, index) => {
    const before = lines[index - 1];
    const words = line.words.join(' ');
    if (!before) text = words;
    else if (isNewParagraph(before, line)) text += `\n\n${words}`;
    else text = joined(text, words);
  });
  return text;
}

/** A gap of nearly a line, or a jump to the next column. */
function isNewParagraph(before: Line, line: Line): boolean {
  const height = Math.max(before.bottom - before.top, line.bottom - line.top);
  const gap = line.top - before.bottom;
  return gap > 0.9 * height || gap < -height;
}

/** Joins a word that was hyphenated at a line end. */
function joined(text: string, words: string): string {
  const isDivided = /\p{Ll}-$/u.test(text) && /^\p{Ll}/u.test(words);
  return isDivided ? text.slice(0, -1) + words : `${text}\n${words}`;
}
