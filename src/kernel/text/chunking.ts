/**
 * How the texts of a corpus are split into chunks. It is stored as `TOKENS/OVERLAP` with the corpus
 * and with each generation; null is the default. A generation whose stored value differs from that
 * of its corpus is split again.
 */
import { Failure } from '../failure/failure.ts';
import { limits } from '../limits/limits.ts';

export interface Chunking {
  readonly tokensMax: number;
  readonly overlapTokens: number;
}

const { chunkTokensMax, chunkOverlapTokens } = limits.document;
export const defaultChunking: Chunking = {
  tokensMax: chunkTokensMax,
  overlapTokens: chunkOverlapTokens,
};

export function readChunking(stored: string | null): Chunking {
  if (stored === null) return defaultChunking;
  const [tokensMax, overlapTokens] = stored.split('/').map(Number);
  return { tokensMax: tokensMax as number, overlapTokens: overlapTokens as number };
}

export function storedChunking({ tokensMax, overlapTokens }: Chunking): string | null {
  const isDefault = tokensMax === chunkTokensMax && overlapTokens === chunkOverlapTokens;
  return isDefault ? null : `${tokensMax}/${overlapTokens}`;
}

/** A change; an absent value stays as it is, and null is the default. */
export interface ChunkingChange {
  readonly tokensMax?: number | null | undefined;
  readonly overlapTokens?: number | null | undefined;
}

/** Throws for values out of bounds. An overlap that was not asked for shrinks with the chunks. */
export function changedChunking(now: Chunking, change: ChunkingChange): Chunking {
  const tokensMax = chosen(change.tokensMax, now.tokensMax, chunkTokensMax);
  const overlapMax = Math.ceil(tokensMax / 2) - 1;
  const overlapAsked = chosen(change.overlapTokens, now.overlapTokens, chunkOverlapTokens);
  const isStated = typeof change.overlapTokens === 'number';
  const overlapTokens = isStated ? overlapAsked : Math.min(overlapAsked, overlapMax);
  const { ownChunkTokensMin, ownChunkTokensMax } = limits.document;
  if (!isWithin(tokensMax, ownChunkTokensMin, ownChunkTokensMax)) {
    const range = `${ownChunkTokensMin} to ${ownChunkTokensMax}`;
    throw new Failure('bad_request', `a chunk may have ${range} tokens, not ${tokensMax}`);
  }
  if (!isWithin(overlapTokens, 0, overlapMax)) {
    const message =
      `chunks of ${tokensMax} tokens may overlap by 0 to ${overlapMax} tokens, ` +
      `not by ${overlapTokens}: the overlap must be less than half of a chunk`;
    throw new Failure('bad_request', message);
  }
  return { tokensMax, overlapTokens };
}

function chosen(asked: number | null | undefined, now: number, standard: number): number {
  return asked === undefined ? now : (asked ?? standard);
}

function isWithin(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
