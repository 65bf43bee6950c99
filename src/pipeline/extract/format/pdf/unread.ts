/** The pages of a PDF that could not be read, if others could. */
import { limits } from '../../../../kernel/limits/limits.ts';
import { type Loss, partOf, type Reading } from '../../loss.ts';

interface Circumstances {
  /** By page number. Empty if nothing was recognized. */
  readonly recognized: ReadonlyMap<number, string>;
  /** Pages on which OCR failed. */
  readonly failed: ReadonlyMap<number, unknown>;
  readonly broken: number;
  readonly total: number;
}

/** Pages without text that show nothing are empty: nothing is lost. */
export function unreadPages(
  scans: readonly { readonly pageNum: number }[],
  { recognized, failed, broken, total }: Circumstances,
): Reading {
  const numbers = scans.map(({ pageNum }) => pageNum);
  const wordless = numbers.filter((page) => recognized.get(page) === '');
  const beyond = numbers.filter((page) => !recognized.has(page) && !failed.has(page));
  const losses: Loss[] = [
    {
      warning: `${partOf(wordless.length, total, 'pages')} not read: no text was recognized there.`,
      reason: 'no_text_recognized',
      texts: namesOf(wordless),
    },
    {
      warning:
        `${partOf(beyond.length, total, 'pages')} not read: only the first ` +
        `${limits.parse.ocrPagesMax} scanned pages are recognized.`,
      reason: 'beyond_scan_limit',
      texts: namesOf(beyond),
    },
    {
      warning: `${partOf(failed.size, total, 'pages')} not read: text recognition failed there.`,
      reason: 'recognition_failed',
      texts: namesOf([...failed.keys()]),
    },
    {
      warning: `${partOf(broken, total, 'pages')} not read: damaged.`,
      reason: 'damaged_page',
      texts: Array.from({ length: broken }, () => 'a page that is damaged'),
    },
  ];
  const lost = wordless.length + beyond.length + failed.size + broken;
  return { read: total - lost, whole: total, losses: losses.filter(({ texts }) => texts.length) };
}

function namesOf(pages: readonly number[]): string[] {
  return pages.map((page) => `page ${page}`);
}
