/**
 * A local embedder that needs no model and no download: each word and each three letters of it are
 * hashed into one of 256 places. It is lexical: it finds spelling variants, not meanings.
 */
import type { Embedder } from './embedding.ts';

const dimensions = 256;

export const hashingEmbedder: Embedder = {
  model: 'hashing-256',
  async embed(texts) {
    return { vectors: texts.map(vectorOf), tokensIn: 0, costCents: 0 };
  },
};

/** Unit length, as signed bytes. */
export function vectorOf(text: string): Uint8Array {
  const sums = new Float64Array(dimensions);
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    addTo(sums, word, 1);
    for (let start = 0; start + 3 <= word.length; start++) {
      addTo(sums, word.slice(start, start + 3), 0.3);
    }
  }
  const length = Math.hypot(...sums) || 1;
  return new Uint8Array(Int8Array.from(sums, (sum) => Math.round((sum / length) * 127)).buffer);
}

function addTo(sums: Float64Array, feature: string, weight: number): void {
  const hash = fnv1a(feature);
  const place = hash % dimensions;
  // The sign comes from another bit, so that collisions cancel out on average.
  sums[place] = (sums[place] ?? 0) + (hash & 0x10000 ? weight : -weight);
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
