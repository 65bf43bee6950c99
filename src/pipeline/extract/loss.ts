/** What a parser could not read of a document: the remaining share, and the reason. */
import { type DroppedText, keptShareOf, type Parsed, warningsOf } from './parsed.ts';

export interface Loss {
  /** A sentence for people. */
  readonly warning: string;
  /** As in `dropped`. */
  readonly reason: string;
  /** The lost text, or its name. */
  readonly texts: readonly string[];
}

export interface Reading {
  /** How much was read, of how much: pages, records, parts or words. */
  readonly read: number;
  readonly whole: number;
  readonly losses: readonly Loss[];
  readonly withDropped?: boolean | undefined;
}

/**
 * Adds losses to `meta` and `dropped`, next to other losses. A document without losses is
 * unchanged.
 */
export function withLosses(parsed: Parsed, { read, whole, losses, withDropped }: Reading): Parsed {
  if (losses.length === 0) return parsed;
  const dropped = losses.flatMap(({ reason, texts }) => texts.map((text) => ({ reason, text })));
  return {
    ...parsed,
    meta: {
      ...parsed.meta,
      kept_share: roundedShare((keptShareOf(parsed.meta) * read) / whole),
      warnings: [...warningsOf(parsed.meta), ...losses.map(({ warning }) => warning)],
    },
    ...(withDropped && { dropped: firstDropped([...(parsed.dropped ?? []), ...dropped]) }),
  };
}

export function roundedShare(share: number): number {
  return Math.round(1000 * share) / 1000;
}

/** `1 of 3 pages was`, `2 of 3 pages were`: for sentences about losses. */
export function partOf(lost: number, whole: number, things: string): string {
  return `${lost} of ${whole} ${things} ${lost === 1 ? 'was' : 'were'}`;
}

/** It is sent in a header of bounded size, with this overhead per entry. */
const droppedBounds = { charactersMax: 100_000, entryCharacters: 40 };

export function firstDropped(dropped: readonly DroppedText[]): DroppedText[] {
  const first: DroppedText[] = [];
  let left = droppedBounds.charactersMax;
  for (const { reason, text } of dropped) {
    if (left <= 0) break;
    first.push({ reason, text: text.slice(0, left).toWellFormed() });
    left -= text.length + droppedBounds.entryCharacters;
  }
  return first;
}
