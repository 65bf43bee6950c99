/**
 * A table that continues at the top of the next page is one table: its rows move to the page on
 * which it begins, and a repeated header is dropped.
 */
import type { PageTable } from './tables.ts';

interface Page {
  readonly text: string;
  readonly tables: readonly PageTable[];
}

interface Begun extends PageTable {
  /** The page on which the table begins. */
  readonly page: number;
}

export function joinContinued(pages: readonly Page[]): string[] {
  const texts: string[] = [];
  let begun: Begun | undefined;
  for (const [at, { text, tables }] of pages.entries()) {
    const next = tables.find(({ markdown }) => startsWith(text, markdown));
    const isContinued = begun && next && isSameTable(begun, next);
    if (begun && isContinued) {
      texts[begun.page] += `\n${rowsOf(next, begun).join('\n')}`;
      texts.push(text.slice(next.markdown.length).trimStart());
      if (texts.at(-1) === '') continue;
    } else texts.push(text);
    const last = tables.find(({ markdown }) => texts[at] !== '' && text.endsWith(markdown));
    begun = last && (last !== next || !isContinued) ? { ...last, page: at } : undefined;
  }
  return texts;
}

function startsWith(text: string, table: string): boolean {
  return text === table || text.startsWith(`${table}\n\n`);
}

/** In points, between the left edges of two parts of one table. */
const edgeMax = 6;

function isSameTable(one: PageTable, other: PageTable): boolean {
  return one.columns === other.columns && Math.abs(one.left - other.left) < edgeMax;
}

/** All rows of the part, without the delimiter row and a repeated header. */
function rowsOf(part: PageTable, { markdown }: Begun): string[] {
  const [head = '', , ...rows] = part.markdown.split('\n');
  return markdown.startsWith(`${head}\n`) ? rows : [head, ...rows];
}
