/** Whether a block is prose, and when two texts are the same. */
import type { Block } from '../block/blocks.ts';

export function linkShare(block: Block): number {
  return block.words === 0 ? 0 : Math.min(1, block.linkedWords / block.words);
}

export function isProse(block: Block): boolean {
  return block.words >= 15 && block.kind !== 'heading' && linkShare(block) < 0.4;
}

/** Letters and digits only, so that quotes, dashes and spaces do not matter. */
export function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
