/** Renders the library's blocks as the library does in Markdown. */
import type { LayoutBlock } from '@llamaindex/liteparse';

export function blockMarkdown(block: LayoutBlock): string {
  const { text = '', level = 0, lines = [] } = block;
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(level)} ${text}`;
    case 'paragraph':
      return emphasized(text, block);
    case 'list_item':
      return `${'  '.repeat(level)}${block.ordered ? block.marker : '-'} ${text}`;
    case 'code':
      return [`\`\`\`${block.lang ?? ''}`, ...lines, '```'].join('\n');
    case 'grid_fallback':
      return ['```text', ...lines, '```'].join('\n');
    case 'table':
      return tableMarkdown(block);
    case 'rule':
      return '---';
    case 'figure':
      return '';
  }
}

function emphasized(text: string, { bold = false, italic = false }: LayoutBlock): string {
  const sign = '*'.repeat((italic ? 1 : 0) + (bold ? 2 : 0));
  return `${sign}${text}${sign}`;
}

function tableMarkdown({ header = [], rows = [] }: LayoutBlock): string {
  const [first = [], ...others] = header.length > 0 ? [header, ...rows] : rows;
  const rowOf = (row: typeof header) => `| ${row.map(({ text }) => text).join(' | ')} |`;
  return [rowOf(first), `|${'---|'.repeat(first.length)}`, ...others.map(rowOf)].join('\n');
}

interface Part {
  readonly text: string;
  readonly isItem: boolean;
}

/** List items follow each other without an empty line. */
export function joinBlocks(parts: readonly Part[]): string {
  let text = '';
  let wasItem = false;
  for (const part of parts) {
    if (part.text === '') continue;
    const space = wasItem && part.isItem ? '\n' : '\n\n';
    text += text === '' ? part.text : space + part.text;
    wasItem = part.isItem;
  }
  return text;
}
