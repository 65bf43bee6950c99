/**
 * Evidence for and against a block being main text, as two tables of rows. Each row observes a
 * value between 0 and 1, with one of two weights: `kept` if Readability kept the block, `left` if
 * it did not. The weights are a logistic regression over the tuning half of two public collections
 * (docs/decisions/0012), rounded; no row names a site.
 */
import type { Block } from '../block/blocks.ts';
import type { BlockContext } from './block-context.ts';
import { placeEvidence } from './evidence-place.ts';
import { textEvidence } from './evidence-text.ts';

export interface Evidence {
  readonly name: string;
  readonly left: number;
  readonly kept: number;
  readonly reason: string;
  readonly observe: (block: Block, context: BlockContext, index: number) => number;
}

/** The initial score: most blocks of a page are not its text. */
const start = { left: -2, kept: -2.3 };

const evidence: readonly Evidence[] = [...textEvidence, ...placeEvidence];

/** Above zero, the block is main text. */
export function weigh(context: BlockContext, index: number): number {
  const block = context.blocks[index];
  if (block === undefined) return start.left;
  const side = (context.kept[index] ?? 0) > 0.5 ? 'kept' : 'left';
  let sum = start[side];
  for (const row of evidence) {
    if (row[side] !== 0) sum += row[side] * row.observe(block, context, index);
  }
  return sum;
}
