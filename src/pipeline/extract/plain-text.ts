/** Markdown to its visible words: no marks, no addresses. Linear in its length. */

const fence = /^\s{0,3}(`{3,}|~{3,})/;
const tableRule = /^\|(?:\s*:?-{3,}:?\s*\|)+$/;
const bullet = /^[-*+]\s+/;
const place = /^\d{1,9}[.)]\s+/;

export function plainText(markdown: string): string {
  const lines: string[] = [];
  let paragraph: string[] = [];
  let open: string | undefined;
  const flush = (): void => {
    for (const line of plainLines(paragraph)) lines.push(line);
    paragraph = [];
  };
  for (const line of markdown.split('\n')) {
    const marker = fence.exec(line)?.[1];
    if (open !== undefined) {
      if (marker?.startsWith(open) && line.trim() === marker) open = undefined;
      else lines.push(line);
    } else if (marker !== undefined) {
      flush();
      open = marker;
    } else if (line.trim() === '') {
      flush();
      lines.push('');
    } else {
      paragraph.push(line.replace(/^\s{0,3}(?:>\s?)+/, '').trim());
    }
  }
  flush();
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Lines without a blank one between them. */
function* plainLines(lines: readonly string[]): Generator<string> {
  // Two numbers make a list. A single one may as well be the start of a sentence.
  const isOrdered = lines.filter((line) => place.test(line)).length > 1;
  for (const line of lines) {
    if (tableRule.test(line)) continue;
    if (/^\|.*\|$/.test(line)) yield cellsOf(line).map(plainWords).join('\t').trim();
    else if (/^#{1,6}\s/.test(line)) yield plainWords(line.replace(/^#{1,6}\s+/, ''));
    else yield plainWords(line.replace(bullet, '').replace(isOrdered ? place : '', ''));
  }
}

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** Bounded, so that a line full of brackets is not slower than others. */
function plainWords(text: string): string {
  return text
    .replace(/!?\[([^[\]]{0,1000})\]\([^()\s]{0,2000}(?:\s"[^"]{0,500}")?\)/g, '$1')
    .replace(/<https?:\/\/[^<>\s]{1,2000}>/g, '')
    .replace(/(\*\*|__|~~)(?=\S)([^*_~]{1,1000})\1/g, '$2')
    .replace(/(?<![\w*])\*([^\s*][^*]{0,1000})\*(?![\w*])/g, '$1')
    .replace(/(?<!`)(`{1,20})([^`]{1,1000})\1/g, '$2')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1');
}
