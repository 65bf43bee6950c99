/**
 * Recognizes the text of one page or picture. The words come in the order in which they are read;
 * lines and paragraphs are made of them by where they stand.
 */
import { LiteParse, type TextItem } from '@llamaindex/liteparse';
import { Failure } from '../../../kernel/failure.ts';
import { limits } from '../../../kernel/limits.ts';
import { ocrFolder } from './ocr-model.ts';
import { damaged } from './refuse.ts';

export interface Recognition {
  /** Of a PDF; a picture has one. */
  readonly page: number;
  readonly dpi: number;
}

/** Below, small print is lost; above, it only takes longer. */
const dpiWanted = 200;
const pointsPerInch = 72;

/** Of a page in points. A poster is looked at from farther away. */
export function recognitionDpi({ width, height }: { width: number; height: number }): number {
  const inches = Math.max((width / pointsPerInch) * (height / pointsPerInch), 1e-6);
  const most = Math.sqrt(limits.parse.ocrPixelsMax / inches);
  return Math.max(1, Math.floor(Math.min(dpiWanted, most)));
}

export async function recognize(
  bytes: Uint8Array,
  { page, dpi }: Recognition,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const tessdataPath = await ocrFolder();
  const parser = new LiteParse({
    quiet: true,
    outputFormat: 'json',
    imageMode: 'off',
    ocrEnabled: true,
    ocrLanguage: 'eng',
    tessdataPath,
    numWorkers: 1,
    targetPages: `${page}`,
    dpi,
  });
  try {
    const { pages } = await parser.parse(bytes);
    return toLines(pages[0]?.textItems ?? []);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw damaged(`the picture cannot be read: ${why.slice(0, 200)}`, error);
  }
}

const confidenceMin = 0.4;

interface Line {
  readonly words: string[];
  top: number;
  bottom: number;
  right: number;
}

/** Specks of dust are read as signs, with little confidence. */
function isWord({ text, confidence = 1 }: TextItem): boolean {
  return confidence >= confidenceMin && /[\p{L}\p{N}]/u.test(text);
}

function toLines(items: readonly TextItem[]): string {
  const lines: Line[] = [];
  for (const item of items.filter(isWord)) {
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

/** A word that was divided at the end of a line is one again. */
function joined(text: string, words: string): string {
  const isDivided = /\p{Ll}-$/u.test(text) && /^\p{Ll}/u.test(words);
  return isDivided ? text.slice(0, -1) + words : `${text}\n${words}`;
}
