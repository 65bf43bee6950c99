/** The part of a passage with the most marked words, as an excerpt of its tree. */
import { isElement, type ProseElement, type ProseNode } from './prose-tree.ts';

interface Window {
  readonly from: number;
  readonly to: number;
}

/** The share that is shown before the first marked word. */
const leadShare = 0.2;

/** The whole tree if it is short. */
export function excerptOf(nodes: readonly ProseNode[], charactersMax: number): ProseNode[] {
  const length = lengthOf(nodes);
  if (length <= charactersMax * 1.25) return [...nodes];
  return cut(nodes, windowOf(nodes, charactersMax), 0);
}

function windowOf(nodes: readonly ProseNode[], charactersMax: number): Window {
  const marks = placesOfMarks(nodes, 0);
  const lead = Math.round(charactersMax * leadShare);
  let [best, from] = [0, 0];
  for (const [index, start] of marks.entries()) {
    const end = start + charactersMax - lead;
    const inside = marks.slice(index).findIndex((place) => place > end);
    const count = inside < 0 ? marks.length - index : inside;
    if (count > best) [best, from] = [count, Math.max(start - lead, 0)];
  }
  return { from, to: from + charactersMax };
}

function lengthOf(nodes: readonly ProseNode[]): number {
  return nodes.reduce((sum, node) => sum + sizeOf(node), 0);
}

function sizeOf(node: ProseNode): number {
  return isElement(node) ? lengthOf(node.children) : node.text.length;
}

function placesOfMarks(nodes: readonly ProseNode[], start: number): number[] {
  const places: number[] = [];
  let at = start;
  for (const node of nodes) {
    if (isElement(node)) places.push(...placesOfMarks(node.children, at));
    else if (node.mark !== undefined) places.push(at);
    at += sizeOf(node);
  }
  return places;
}

function cut(nodes: readonly ProseNode[], window: Window, start: number): ProseNode[] {
  const kept: ProseNode[] = [];
  let at = start;
  for (const node of nodes) {
    const size = sizeOf(node);
    const end = at + size;
    const isInside = end > window.from && at < window.to && size > 0;
    if (isInside)
      kept.push(isElement(node) ? cutElement(node, window, at) : piece(node, window, at));
    at = end;
  }
  return kept;
}

function cutElement(node: ProseElement, window: Window, at: number): ProseElement {
  if (node.name === 'table') return cutTable(node, window, at);
  if (node.name === 'pre') return cutLines(node, window, at);
  return { ...node, children: cut(node.children, window, at) };
}

/** Rows stay whole, and the header stays. */
function cutTable(table: ProseElement, { from, to }: Window, start: number): ProseElement {
  let at = start;
  const rows = table.children.filter((row, index) => {
    const begin = at;
    at += sizeOf(row);
    return index === 0 || (at > from && begin < to);
  });
  return { ...table, children: rows };
}

/** Lines of code stay whole. */
function cutLines(node: ProseElement, { from, to }: Window, at: number): ProseElement {
  const text = node.children.map((child) => ('text' in child ? child.text : '')).join('');
  const begin = text.lastIndexOf('\n', Math.max(from - at, 0) - 1) + 1;
  const next = text.indexOf('\n', to - at);
  const lines = { from: at + begin, to: next < 0 ? at + text.length : at + next };
  const pieces = node.children.flatMap((child, index) => {
    const before = at + lengthOf(node.children.slice(0, index));
    if (isElement(child) || before + child.text.length <= lines.from || before >= lines.to)
      return [];
    const inside = child.text.slice(Math.max(lines.from - before, 0), lines.to - before);
    return [{ ...child, text: inside }];
  });
  return { ...node, children: pieces };
}

function piece(node: { text: string; mark?: number | undefined }, window: Window, at: number) {
  const { text, mark } = node;
  let from = Math.max(window.from - at, 0);
  let to = Math.min(window.to - at, text.length);
  // Words stay whole.
  if (from > 0) from = text.indexOf(' ', from) < 0 ? from : text.indexOf(' ', from) + 1;
  if (to < text.length && text.lastIndexOf(' ', to) > from) to = text.lastIndexOf(' ', to);
  const [before, after] = [from > 0 ? '… ' : '', to < text.length ? ' …' : ''];
  return { text: `${before}${text.slice(from, Math.max(to, from))}${after}`, mark };
}
