/**
 * Text that a chunk repeats from a block that began in an earlier chunk, so that it can be read
 * alone: the header of a table, the fence of code. `opening` and `closing` surround the chunk's
 * slice of the document and are not part of it.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { type Block, codeFence, delimiterEnd } from './block.ts';
import { countText } from './token/tokens.ts';

export interface Frame {
  /** A chunk that begins here or later repeats the opening. */
  readonly bodyStart: number;
  readonly opening: string;
  readonly closing: string;
  readonly openingTokens: number;
  readonly closingTokens: number;
}

/** The frames of a text's blocks, computed on first use. */
export class Frames {
  readonly #text: string;
  readonly #tokensMax: number;
  readonly #known = new WeakMap<Block, Frame>();

  constructor(text: string, tokensMax: number) {
    this.#text = text;
    this.#tokensMax = tokensMax;
  }

  of(block: Block): Frame {
    let frame = this.#known.get(block);
    if (!frame) {
      frame = this.#make(block) ?? { ...unframed, bodyStart: block.end };
      this.#known.set(block, frame);
    }
    return frame;
  }

  #make(block: Block): Frame | undefined {
    if (block.kind === 'table') return this.#ofTable(block);
    if (block.kind === 'code') return this.#ofCode(block);
    return undefined;
  }

  #ofTable(block: Block): Frame | undefined {
    const end = delimiterEnd(this.#text, block.start);
    if (end === undefined) return undefined;
    const header = this.#text.slice(block.start, end);
    return (
      this.#fitted({ bodyStart: end, opening: `${header}\n`, closing: '' }) ??
      this.#fitted({ bodyStart: end, opening: shortened(header), closing: '' })
    );
  }

  #ofCode(block: Block): Frame | undefined {
    const fence = codeFence(this.#text, block.start);
    if (!fence) return undefined;
    const { indent, mark, language, end } = fence;
    const closing = `\n${indent}${mark}`;
    return this.#fitted({ bodyStart: end, opening: `${indent}${mark}${language}\n`, closing });
  }

  /**
   * Undefined if it takes more than a third of a chunk: every chunk of the block would repeat it,
   * the document would grow by half or more, and most of each chunk would be identical.
   */
  #fitted(frame: Pick<Frame, 'bodyStart' | 'opening' | 'closing'>): Frame | undefined {
    const { opening, closing } = frame;
    if (opening.length + closing.length > limits.document.frameCharactersMax) return undefined;
    const openingTokens = countText(opening);
    const closingTokens = countText(closing);
    const isSmall = openingTokens + closingTokens <= this.#tokensMax / 3;
    return isSmall ? { ...frame, openingTokens, closingTokens } : undefined;
  }
}

const unframed = { opening: '', closing: '', openingTokens: 0, closingTokens: 0 };
const cellCharactersMax = 16;

/** A header with the same columns and shortened names. */
function shortened(header: string): string {
  const [names = ''] = header.slice(0, limits.document.frameCharactersMax).split('\n');
  const cells = names
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/);
  const short = cells.map((cell) => {
    const name = cell.trim();
    return name.length > cellCharactersMax ? `${name.slice(0, cellCharactersMax - 1)}…` : name;
  });
  return `|${short.join('|')}|\n${'|--'.repeat(cells.length)}|\n`;
}
