/**
 * Validates the response of an OpenAI-compatible server: one vector per text, in order, all of one
 * length, all finite. Anything else is `step_output_invalid`: the same request would return the
 * same again.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { EmbeddingResult } from '../collector.ts';
import { toSignedBytes } from '../embedding/vector-bytes.ts';

export interface Expected {
  readonly model: string;
  readonly count: number;
  /** Undefined until a vector of the model has been seen. */
  readonly dimensions: number | undefined;
}

export function readAnswer(
  body: string,
  expected: Expected,
  toOpenai: (answer: Record<string, unknown>) => Record<string, unknown> = (answer) => answer,
): EmbeddingResult & { readonly dimensions: number } {
  const refuse = (what: string): Failure =>
    new Failure('step_output_invalid', `${expected.model}: ${what}`);
  const answer = toOpenai(parse(body, refuse));
  if (!Array.isArray(answer.data)) throw refuse('the answer has no list of vectors');
  if (answer.data.length !== expected.count) {
    throw refuse(`${answer.data.length} of ${expected.count} vectors came back`);
  }
  const floats: (ArrayLike<number> | undefined)[] = Array.from({ length: expected.count });
  answer.data.forEach((row: unknown, place) => {
    const { index = place, embedding } = row instanceof Object ? (row as Row) : {};
    const isFree = Number.isInteger(index) && index in floats && floats[index] === undefined;
    if (!isFree) throw refuse(`vector ${place} has the place ${JSON.stringify(index)}`);
    const vector = toFloats(embedding);
    if (!vector) throw refuse(`vector ${place} is not made of finite numbers`);
    floats[index] = vector;
  });
  const dimensions = expected.dimensions ?? floats[0]?.length ?? 0;
  const odd = floats.find((vector) => vector?.length !== dimensions);
  if (odd) throw refuse(`a vector has ${odd.length} of ${dimensions} dimensions`);
  return {
    vectors: floats.map((vector) => toSignedBytes(Float64Array.from(vector ?? []))),
    tokens: tokensOf(answer.usage),
    dimensions,
  };
}

interface Row {
  readonly index?: number;
  readonly embedding?: unknown;
}

function parse(body: string, refuse: (what: string) => Failure): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    if (value instanceof Object) return { ...value };
  } catch (error) {
    throw new Failure('step_output_invalid', refuse('the answer is not JSON').message, {
      cause: error,
    });
  }
  throw refuse('the answer is not an object');
}

/** As numbers, or as 32-bit floats in base64. */
function toFloats(embedding: unknown): ArrayLike<number> | undefined {
  const vector = typeof embedding === 'string' ? fromBase64(embedding) : embedding;
  const isVector = vector instanceof Float32Array || Array.isArray(vector);
  if (!isVector || vector.length === 0) return undefined;
  for (const value of vector) if (!Number.isFinite(value)) return undefined;
  return vector;
}

function fromBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Float32Array.from({ length: bytes.length / 4 }, (_, place) =>
    view.getFloat32(place * 4, true),
  );
}

function tokensOf(usage: unknown): number | undefined {
  const { prompt_tokens: prompt, total_tokens: total } =
    usage instanceof Object ? (usage as Record<string, unknown>) : {};
  const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) > 0;
  return [prompt, total].find(isCount);
}
