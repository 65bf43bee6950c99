import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { staticEmbedder } from './static-embedder.ts';
import { fromSignedBytes } from './vector-bytes.ts';
import { readWordVectors, writeWordVectors } from './word-vectors.ts';

const asset = new URL('../../../assets/word-vectors.bin', import.meta.url);
const embedder = staticEmbedder();

async function cosine(one: string, other: string): Promise<number> {
  const { vectors } = await embedder.embed([one, other], new AbortController().signal);
  const [a = [], b = []] = vectors.map((bytes) => [...fromSignedBytes(bytes)]);
  const dot = (x: number[], y: number[]) => x.reduce((sum, v, i) => sum + v * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b) || 1);
}

describe('the static embedder', () => {
  test('makes one vector of 256 dimensions for each text, the same each time', async () => {
    const { signal } = new AbortController();
    const one = await embedder.embed(['refund policy', ''], signal);
    const other = await embedder.embed(['refund policy', ''], signal);
    assert.deepEqual(one, other);
    assert.deepEqual(
      one.vectors.map(({ length }) => length),
      [512, 512],
    );
    assert.ok(one.vectors[1]?.every((value) => value === 0));
  });

  test('puts related words nearer than unrelated ones', async () => {
    assert.ok((await cosine('doctor', 'physician')) > (await cosine('doctor', 'keyboard')) + 0.1);
    assert.ok((await cosine('car', 'automobile')) > (await cosine('car', 'sonnet')) + 0.1);
  });

  test('puts spellings of an unknown word near each other', async () => {
    const near = await cosine('Frobnication engine', 'frobnications engine');
    assert.ok(near > (await cosine('frobnication engine', 'zyxwvutsrq engine')) + 0.2);
  });

  test('sees the same word in capitals, and letters of any script', async () => {
    assert.equal(await cosine('REFUND', 'refund'), 1);
    assert.ok((await cosine('возврат денег', 'возврат товара')) > 0.2);
  });
});

describe('the table of word vectors', () => {
  test('is the file that its notice describes', () => {
    const sha256 = createHash('sha256').update(readFileSync(asset)).digest('hex');
    const notice = readFileSync(new URL('../../../assets/NOTICE.md', import.meta.url), 'utf8');
    assert.ok(notice.includes(sha256), `assets/NOTICE.md does not name ${sha256}`);
  });

  test('is refused when it is truncated or not a table', (t) => {
    const directory = temporaryDirectory(t);
    const table = writeWordVectors([{ word: 'a', vector: new Float64Array(4).fill(1) }], 4);
    const whole = join(directory, 'whole.bin');
    writeFileSync(whole, table);
    assert.equal(readWordVectors(whole).count, 1);
    const cut = join(directory, 'cut.bin');
    writeFileSync(cut, table.subarray(0, -1));
    assert.throws(() => readWordVectors(cut), /cut short/);
    writeFileSync(cut, 'something else, and long enough for a header');
    assert.throws(() => readWordVectors(cut), /no table of word vectors/);
  });
});
