/** PDFs like those of books and journals, deterministic. */
import { writePdf } from '../test/support/pdf-writer.ts';
import { chanceFrom, paragraphOf } from './pipeline/pages.ts';

type Chance = () => number;

/** Forty lines of ten words, each written as a whole. */
export function bookPdf(pages: number): Buffer {
  const words =
    'harbour ship quay crane cargo ferry tide anchor captain market signal weather'.split(' ');
  const pageOf = (page: number) => {
    const lines = Array.from({ length: 40 }, (_, line) => {
      const text = Array.from(
        { length: 10 },
        (_, at) => words[(page * 31 + line * 7 + at * 5) % 12],
      );
      return `1 0 0 1 72 ${740 - line * 17} Tm (${text.join(' ')}) Tj`;
    });
    return `BT /F1 11 Tf ${lines.join(' ')} ET`;
  };
  return writePdf(Array.from({ length: pages }, (_, page) => pageOf(page)));
}

/**
 * Two columns of small print, about a thousand words, set in kerned pairs of letters, as
 * typesetting programs do; a heading above each column, and a ruled table.
 */
export function densePdf(pages: number): Buffer {
  const chance = chanceFrom(7);
  return writePdf(Array.from({ length: pages }, (_, page) => densePage(page, chance)));
}

const columns = { left: [50, 312], characters: 54, top: 600, linesEach: 56, leading: 9.6 } as const;

function densePage(page: number, chance: Chance): string {
  const texts = columns.left.map((left) => columnOf(left, chance));
  return [
    `BT /F1 8 Tf 1 0 0 1 50 760 Tm (Journal of Harbours, volume ${page + 1}) Tj`,
    ...columns.left.map((left) => `/F1 12 Tf 1 0 0 1 ${left} 616 Tm (On quays and tides) Tj`),
    `/F1 8 Tf ${texts.join(' ')}`,
    `${tableTexts(chance)} ET`,
    ruling,
  ].join(' ');
}

function columnOf(left: number, chance: Chance): string {
  const words = Array.from({ length: 20 }, () => paragraphOf(chance))
    .join(' ')
    .split(' ')
    .reverse();
  const lines = Array.from({ length: columns.linesEach }, (_, line) => {
    const shown: string[] = [];
    for (let size = 0; size < columns.characters; size += (shown.at(-1)?.length ?? 0) + 1) {
      shown.push(words.pop() ?? 'quay');
    }
    const y = columns.top - line * columns.leading;
    return `1 0 0 1 ${left} ${y.toFixed(2)} Tm [${shown.map(kerned).join(' -278 ')}] TJ`;
  });
  return lines.join(' ');
}

/** Two letters at a time, each pair kerned a little. */
function kerned(word: string): string {
  return (word.match(/.{1,2}/g) ?? []).map((pair) => `(${pair})`).join(' 12 ');
}

const table = { left: 50, top: 705, rows: 5, columns: 6, width: 84, height: 13 } as const;

function tableTexts(chance: Chance): string {
  return Array.from({ length: table.rows * table.columns }, (_, cell) => {
    const x = table.left + 4 + (cell % table.columns) * table.width;
    const y = table.top - 9 - Math.floor(cell / table.columns) * table.height;
    return `1 0 0 1 ${x} ${y} Tm (${Math.floor(chance() * 10_000)}) Tj`;
  }).join(' ');
}

const ruling = rulingOf();

function rulingOf(): string {
  const right = table.left + table.columns * table.width;
  const bottom = table.top - table.rows * table.height;
  const across = Array.from({ length: table.rows + 1 }, (_, row) => {
    const y = table.top - row * table.height;
    return `${table.left} ${y} m ${right} ${y} l S`;
  });
  const down = Array.from({ length: table.columns + 1 }, (_, column) => {
    const x = table.left + column * table.width;
    return `${x} ${table.top} m ${x} ${bottom} l S`;
  });
  return [...across, ...down].join(' ');
}
