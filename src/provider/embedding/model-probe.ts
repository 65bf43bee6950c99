/** Whether a model tells related sentences from unrelated ones: a damaged or unfit one does not. */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Embedder } from './embedding.ts';
import { fromSignedBytes } from './vector-bytes.ts';

const sentence = 'The cat sleeps on the warm sofa.';
const related = 'A kitten is resting on a couch.';
const unrelated = 'The parliament raised the tax on imported steel.';

export interface Probed {
  readonly dimensions: number;
  /** The cosine of two sentences that mean the same. */
  readonly related: number;
  readonly unrelated: number;
}

export async function probeModel(embedder: Embedder, signal: AbortSignal): Promise<Probed> {
  const { vectors } = await embedder.embed([sentence, related, unrelated], signal);
  const [first, near, far] = vectors.map(fromSignedBytes);
  if (!first || !near || !far) {
    const message = `${embedder.model} gave ${vectors.length} vectors for 3 texts`;
    throw new Failure('step_output_invalid', message);
  }
  const probed = {
    dimensions: first.length,
    related: cosine(first, near),
    unrelated: cosine(first, far),
  };
  if (probed.related > probed.unrelated) return probed;
  const message =
    `${embedder.model} finds unrelated sentences nearer (${probed.unrelated.toFixed(2)}) than ` +
    `related ones (${probed.related.toFixed(2)}): it is no model for search`;
  throw new Failure('step_output_invalid', message);
}

function cosine(one: Int16Array, other: Int16Array): number {
  let [dot, first, second] = [0, 0, 0];
  for (let place = 0; place < one.length; place++) {
    const [a, b] = [one[place] as number, other[place] as number];
    dot += a * b;
    first += a * a;
    second += b * b;
  }
  return dot / Math.sqrt(Math.max(first * second, 1));
}
