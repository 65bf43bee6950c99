/** Blocks as Markdown and as plain text. Links become their words: addresses do not help search. */
import type { Block } from './blocks.ts';

export function toMarkdown(blocks: readonly Block[]): string {
  let markdown = '';
  let previous: Block | undefined;
  for (const block of blocks) {
    const isHead = block.kind === 'row' && block.table !== previous?.table;
    if (previous !== undefined) markdown += gapOf(previous, block);
    markdown += quoted(block, render(block, isHead));
    previous = block;
  }
  return markdown;
}

export function toText(blocks: readonly Block[]): string {
  return blocks.map((block) => block.text).join('\n\n');
}

function gapOf(previous: Block, block: Block): string {
  if (isTight(previous, block)) return '\n';
  // A box is one quote, and the next box another one.
  const isSameQuote = block.quote > 0 && block.quote === previous.quote && !block.isTitle;
  return isSameQuote ? `\n${prefixOf(block).trimEnd()}\n` : '\n\n';
}

function isTight(previous: Block, block: Block): boolean {
  if (block.kind === 'row') return previous.kind === 'row' && previous.table === block.table;
  return block.kind === 'item' && previous.kind === 'item' && block.marker !== '';
}

function render(block: Block, isHead: boolean): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${block.text.replace(/\s+/g, ' ')}`;
    case 'item':
      return renderItem(block);
    case 'code':
      return renderCode(block);
    case 'row':
      return renderRow(block.cells, isHead);
    case 'paragraph':
      return block.isTitle ? `**${block.text.replace(/\s+/g, ' ')}**` : escaped(block.text);
  }
}

function renderItem({ level, marker, text }: Block): string {
  const indent = ' '.repeat(3 * Math.max(0, Math.min(level, 6) - 1));
  const hanging = indent + ' '.repeat(marker === '' ? 0 : marker.length + 1);
  const first = marker === '' ? `${indent}  ` : `${indent}${marker} `;
  return first + text.replace(/\n+/g, `\n${hanging}`);
}

/** The fence is longer than any inside. */
function renderCode({ text, language }: Block): string {
  const inside = text.match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...inside.slice(0, 1000).map((run) => run.length + 1)));
  return `${fence}${language}\n${text}\n${fence}`;
}

function renderRow(cells: readonly string[], isHead: boolean): string {
  const flat = cells.map((cell) => cell.replace(/\s+/g, ' ').replaceAll('|', '\\|'));
  const row = `| ${flat.join(' | ')} |`;
  return isHead ? `${row}\n|${' --- |'.repeat(cells.length)}` : row;
}

function quoted(block: Block, text: string): string {
  if (block.quote === 0) return text;
  const prefix = prefixOf(block);
  return prefix + text.replaceAll('\n', `\n${prefix}`);
}

function prefixOf({ quote }: Block): string {
  return '> '.repeat(Math.min(quote, 3));
}

/** Escapes text that would read as a heading, a quote or a fence. */
function escaped(text: string): string {
  return text.replace(/^(?=#{1,6}\s|>|`{3})/gm, '\\');
}
