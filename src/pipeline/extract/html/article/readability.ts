/** The blocks that Readability would keep: one vote among the evidence, with the highest weight. */
import { Readability } from '@mozilla/readability';
import { type Block, runFrom } from '../block/blocks.ts';
import type { TreeDocument } from '../tree/document.ts';
import type { TreeElement } from '../tree/element.ts';
import { isElement, isText, type TreeNode } from '../tree/node.ts';

/** A shorter text may occur several times on a page, so equality proves nothing. */
const telltaleCharactersMin = 25;

interface Kept {
  readonly nodes: Set<TreeNode>;
  readonly texts: Set<string>;
}

/** Destroys the document: read everything else from it before. */
export function keepShares(document: TreeDocument, blocks: readonly Block[]): number[] {
  const content = runReadability(document);
  const kept: Kept = { nodes: new Set(), texts: new Set() };
  if (content !== undefined) collect(content, kept);
  // If its first try finds little, Readability parses the page again, and no node is the same.
  const isSameTree = blocks.some((block) => block.runs.some(({ node }) => kept.nodes.has(node)));
  const telltaleMin = isSameTree ? telltaleCharactersMin : 1;
  return blocks.map((block) => shareOf(block, kept, telltaleMin));
}

function runReadability(document: TreeDocument): TreeElement | undefined {
  const options = {
    keepClasses: true,
    disableJSONLD: true,
    serializer: (node: unknown) => node as TreeElement,
  };
  try {
    return new Readability<TreeElement>(document as never, options).parse()?.content ?? undefined;
  } catch (error) {
    // It expects a body, which a fragment may lack: then it has no vote.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function collect(element: TreeElement, kept: Kept): void {
  let child = element.firstChild;
  while (child !== null) {
    if (isText(child)) {
      const run = runFrom(child);
      kept.nodes.add(run.node);
      const text = run.text.trim();
      if (text.length > 0) kept.texts.add(text);
      child = run.next;
      continue;
    }
    if (isElement(child)) collect(child, kept);
    child = child.nextSibling;
  }
}

function shareOf(block: Block, kept: Kept, telltaleMin: number): number {
  let all = 0;
  let found = 0;
  for (const { node, text } of block.runs) {
    const trimmed = text.trim();
    all += trimmed.length;
    const isTelltale = trimmed.length >= telltaleMin && kept.texts.has(trimmed);
    if (isTelltale || kept.nodes.has(node)) found += trimmed.length;
  }
  return all === 0 ? 0 : found / all;
}
