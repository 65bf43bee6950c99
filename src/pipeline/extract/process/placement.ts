/** Where a document is parsed, and its time limit, by type. */
import { limits } from '../../../kernel/limits/limits.ts';

interface Placement {
  /** Up to so many bytes are parsed in this process. Only for linear code of our own. */
  readonly inProcessBytesMax: number;
  readonly timeoutMs: number;
}

const { inProcessBytesMax, markdownInProcessBytesMax, documentMs, slowDocumentMs } = limits.parser;
const here: Placement = { inProcessBytesMax, timeoutMs: documentMs };
const shortHere: Placement = {
  inProcessBytesMax: markdownInProcessBytesMax,
  timeoutMs: documentMs,
};
const apart: Placement = { inProcessBytesMax: 0, timeoutMs: documentMs };
const slowApart: Placement = { inProcessBytesMax: 0, timeoutMs: slowDocumentMs };

const placements: readonly [mediaType: RegExp, placement: Placement][] = [
  [/^text\/(?:plain|text)$/, here],
  [/^text\/markdown$/, shortHere],
  [/^(?:application\/pdf|image\/.*)$/, slowApart],
];

/** The properties of a document that decide where it is parsed. */
export interface Placed {
  readonly mediaType: string;
  readonly bytes: { readonly length: number };
}

export function placementOf({ mediaType, bytes }: Placed): {
  readonly isHere: boolean;
  readonly timeoutMs: number;
} {
  const placement = placements.find(([pattern]) => pattern.test(mediaType))?.[1] ?? apart;
  return {
    isHere: bytes.length < placement.inProcessBytesMax,
    timeoutMs: placement.timeoutMs,
  };
}
