/**
 * Markdown as a tree of the few elements that the workbench shows. Text of foreign documents only
 * becomes text: HTML is shown as it is written, images are their description, and a link is kept
 * only if it leads to a web page or a mail address.
 */
import type { Nodes, Parents, RootContent, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';
import { type Range, type Segment, segmentsOf } from './source-map.ts';

export type ElementName =
  | ('p' | 'heading' | 'ul' | 'ol' | 'li' | 'pre' | 'blockquote' | 'hr' | 'br' | 'em' | 'strong')
  | ('code' | 'a' | 'table' | 'tr' | 'th' | 'td' | 'image');

export interface ProseElement {
  readonly name: ElementName;
  readonly children: readonly ProseNode[];
  /** Of a link. */
  readonly href?: string;
  /** The first number of a list. */
  readonly first?: number;
  readonly align?: 'left' | 'right' | 'center';
}

export type ProseNode = ProseElement | Segment;

export function isElement(node: ProseNode): node is ProseElement {
  return 'name' in node;
}

interface Reading {
  readonly source: string;
  readonly ranges: readonly Range[];
  /** How many elements are around. */
  readonly depth: number;
}

/** What is nested deeper is shown as it is written: thousands of `>` would exhaust the stack. */
const depthMax = 24;

export function proseOf(source: string, ranges: readonly Range[] = []): ProseNode[] {
  const root = fromMarkdown(source, {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  });
  return childrenOf(root, { source, ranges, depth: 0 });
}

function childrenOf(parent: Parents, reading: Reading): ProseNode[] {
  const inside = { ...reading, depth: reading.depth + 1 };
  if (inside.depth > depthMax) return segments(sliceOf(parent, reading), startOf(parent), reading);
  return (parent.children as RootContent[]).flatMap((child) => nodesOf(child, inside));
}

const simple = {
  paragraph: 'p',
  heading: 'heading',
  blockquote: 'blockquote',
  listItem: 'li',
  emphasis: 'em',
  strong: 'strong',
} as const;

function nodesOf(node: Nodes, reading: Reading): ProseNode[] {
  switch (node.type) {
    case 'text':
      return segments(unbroken(node.value, columnOf(node)), startOf(node), reading);
    case 'paragraph':
    case 'heading':
    case 'blockquote':
    case 'listItem':
    case 'emphasis':
    case 'strong':
      return [{ name: simple[node.type], children: childrenOf(node, reading) }];
    case 'list': {
      const first = node.start ?? undefined;
      const children = childrenOf(node, reading);
      if (!node.ordered) return [{ name: 'ul', children }];
      return [{ name: 'ol', children, ...(first !== undefined && { first }) }];
    }
    case 'inlineCode':
      return [
        { name: 'code', children: segments(node.value, insideTicks(node, reading), reading) },
      ];
    case 'code':
      return [{ name: 'pre', children: segments(node.value, insideFence(node, reading), reading) }];
    case 'link': {
      const children = childrenOf(node, reading);
      const href = safeAddress(node.url);
      return href === undefined ? children : [{ name: 'a', href, children }];
    }
    case 'table':
      return [tableOf(node, reading)];
    case 'thematicBreak':
      return [{ name: 'hr', children: [] }];
    case 'break':
      return [{ name: 'br', children: [] }];
    case 'image':
    case 'imageReference':
      return [{ name: 'image', children: [{ text: node.alt || 'image' }] }];
    case 'html':
      return segments(node.value, startOf(node), reading);
    case 'definition':
      return segments(sliceOf(node, reading), startOf(node), reading);
    default:
      return 'children' in node ? childrenOf(node, reading) : [];
  }
}

function tableOf(table: Table, reading: Reading): ProseElement {
  const rows = table.children.map((row, place): ProseElement => {
    const cells = row.children.map((cell, column): ProseElement => {
      const align = table.align?.[column];
      const children = childrenOf(cell, reading);
      return { name: place === 0 ? 'th' : 'td', children, ...(align && { align }) };
    });
    return { name: 'tr', children: cells };
  });
  return { name: 'table', children: rows };
}

function segments(text: string, from: number, { source, ranges }: Reading): Segment[] {
  return segmentsOf(text, { source, from, ranges });
}

function startOf(node: Nodes): number {
  return node.position?.start.offset ?? 0;
}

/** How much of its line is before the node. */
function columnOf(node: Nodes): number {
  return (node.position?.start.column ?? 1) - 1;
}

function sliceOf(node: Nodes, { source }: Reading): string {
  return source.slice(startOf(node), node.position?.end.offset);
}

function insideTicks(node: Nodes, reading: Reading): number {
  return startOf(node) + (/^`+ ?/.exec(sliceOf(node, reading))?.[0].length ?? 0);
}

/** Indented code has no fence. */
function insideFence(node: Nodes, reading: Reading): number {
  const fence = /^(?:```|~~~).*(?:\r?\n|$)/.exec(sliceOf(node, reading))?.[0];
  return startOf(node) + (fence?.length ?? 0);
}

const brokenLineMin = 45;

/**
 * A line that is this long was broken to fit a page, so it is joined with the next; after a short
 * one the break has a meaning, as in an address or a poem. The length of the text is kept.
 */
function unbroken(text: string, column: number): string {
  const lines = text.split('\n');
  return lines.reduce((joined, line, index) => {
    const before = (lines[index - 1]?.length ?? 0) + (index === 1 ? column : 0);
    const isLong = before >= brokenLineMin;
    return `${joined}${isLong ? ' ' : '\n'}${line}`;
  });
}

/** Undefined for an address that is relative, or that could run something. */
export function safeAddress(address: string): string | undefined {
  const url = URL.parse(address);
  return url && /^(?:https?|mailto):$/.test(url.protocol) ? url.href : undefined;
}
