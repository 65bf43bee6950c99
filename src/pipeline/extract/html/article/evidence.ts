/**
 * What speaks for a block being part of the main text, and what against it, as two tables of rows.
 * Each row observes something between 0 and 1. It counts by one of two weights: `kept` when
 * Readability kept the block, `left` when it did not. The weights are a logistic regression over
 * the tuning half of two public collections (docs/decisions/0012), rounded; nothing names a site.
 */
import type { Block } from '../block/blocks.ts';
import { placeEvidence } from './evidence-place.ts';
import { textEvidence } from './evidence-text.ts';
import type { Setting } from './setting.ts';

export interface Evidence {
  readonly name: string;
  readonly left: number;
  readonly kept: number;
  readonly reason: string;
  readonly observe: (block: Block, setting: Setting, index: number) => number;
}

/** What a block starts with: most blocks of a page are not its text. */
const start = { left: -2, kept: -2.3 };

const evidence: readonly Evidence[] = [...textEvidence, ...placeEvidence];

/** Above zero, the block belongs to the main text. */
export function weigh(setting: Setting, index: number): number {
  const block = setting.blocks[index];
  if (block === undefined) return start.left;
  const side = (setting.kept[index] ?? 0) > 0.5 ? 'kept' : 'left';
  let sum = start[side];
  for (const row of evidence) {
    if (row[side] !== 0) sum += row[side] * row.observe(block, setting, index);
  }
  return sum;
}
