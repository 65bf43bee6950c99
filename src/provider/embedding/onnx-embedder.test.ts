import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { PaidVector } from './embedding.ts';
import { type OnnxRuntime, onnxEmbedder } from './onnx-embedder.ts';
import { fromSignedBytes } from './vector-bytes.ts';
import { readWordPiece } from './word-piece.ts';

const vocabulary = [
  ...['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'un', '##aff', '##able', 'cafe', 'the', ',', '中'],
  ...['##s', 'The'],
];

function folderWith(t: TestContext, files: Readonly<Record<string, unknown>>): string {
  const folder = temporaryDirectory(t);
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Gives each token the vector [its id, 1], and padding arbitrary values. */
const runtime: OnnxRuntime = {
  Tensor: class {
    readonly type: string;
    readonly data: BigInt64Array;
    readonly dims: readonly number[];
    constructor(type: 'int64', data: BigInt64Array, dims: readonly number[]) {
      this.type = type;
      this.data = data;
      this.dims = dims;
    }
  },
  InferenceSession: {
    create: async () => ({
      inputNames: ['input_ids', 'attention_mask', 'token_type_ids'],
      outputNames: ['last_hidden_state'],
      run: async ({ input_ids: ids, attention_mask: mask }) => {
        const { data, dims } = ids ?? { data: [], dims: [0, 0] };
        const values = Array.from(data, (id, place) =>
          Number(mask?.data[place]) === 1 ? [Number(id), 1] : [1e6, -1e6],
        );
        return { last_hidden_state: { data: values.flat(), dims: [...dims, 2] } };
      },
    }),
  },
};

describe('the WordPiece tokenizer', () => {
  const cases: readonly (readonly [string, readonly number[]])[] = [
    ['unaffable', [4, 5, 6]],
    ['Café', [7]],
    ['the,the', [8, 9, 8]],
    ['the中the', [8, 10, 8]],
    ['unaffables', [4, 5, 6, 11]],
    ['unheard', [1]],
    ['the\u0000\u200b the', [8, 8]],
    ['x'.repeat(101), [1]],
    ['', []],
  ];
  for (const [text, ids] of cases) {
    test(`cuts ${JSON.stringify(text.slice(0, 20))} into ${JSON.stringify(ids)}`, (t) => {
      const tokenizer = readWordPiece(folderWith(t, { 'vocab.txt': vocabulary.join('\n') }));
      assert.deepEqual(tokenizer.encode(text), [2, ...ids, 3]);
    });
  }

  test('reads a tokenizer.json, keeps capitals if configured, and truncates long texts', (t) => {
    const vocab = Object.fromEntries(vocabulary.map((word, index) => [word, index]));
    const tokenizer = readWordPiece(
      folderWith(t, {
        'tokenizer.json': { normalizer: { lowercase: false }, model: { type: 'WordPiece', vocab } },
        'tokenizer_config.json': { model_max_length: 4 },
      }),
    );
    assert.deepEqual(tokenizer.encode('The the the the'), [2, 12, 8, 3]);
  });

  test('says what is missing in a folder of another kind', (t) => {
    const folder = folderWith(t, { 'tokenizer.json': { model: { type: 'BPE', vocab: {} } } });
    assert.throws(() => readWordPiece(folder), /neither vocab\.txt nor .*its tokenizer is BPE/);
  });
});

describe('an ONNX model in a folder', () => {
  const files = { 'vocab.txt': vocabulary.join('\n'), 'model.onnx': 'weights' };

  test('gives each text the mean of its own tokens, without the padding', async (t) => {
    const folder = folderWith(t, files);
    const embedder = onnxEmbedder({ folder, loadRuntime: async () => runtime });
    const kept: PaidVector[] = [];
    const { signal } = new AbortController();
    const texts = ['the', 'unaffable the'];
    const { vectors, tokensIn } = await embedder.embed(texts, signal, async (paid) => {
      kept.push(...paid);
    });
    const shares = vectors.map((bytes) => {
      const [mean = 0, one = 0] = fromSignedBytes(bytes);
      return (one / mean).toFixed(3);
    });
    // (2 + 8 + 3) / 3 and (2 + 4 + 5 + 6 + 8 + 3) / 6, each next to a 1.
    assert.deepEqual(shares, [(3 / 13).toFixed(3), (6 / 28).toFixed(3)]);
    assert.equal(tokensIn, 9);
    assert.deepEqual(
      kept.map(({ text, tokens }) => [text, tokens]),
      [
        ['the', 3],
        ['unaffable the', 6],
      ],
    );
  });

  test('counts vectors more than words in hybrid search', (t) => {
    const { hybridWeights } = onnxEmbedder({ folder: folderWith(t, files) });
    const { keyword = 0, vector = 0, feedback = 0 } = hybridWeights ?? {};
    assert.ok(vector > keyword);
    assert.ok(Math.abs(keyword + vector + feedback - 1) < 1e-9, 'as the built-in weights');
  });

  test('says what to install if the runtime is absent', async (t) => {
    const embedder = onnxEmbedder({ folder: folderWith(t, files) });
    const { signal } = new AbortController();
    await assert.rejects(embedder.embed(['the'], signal), {
      code: 'package_missing',
      message: /npm install --ignore-scripts onnxruntime-node/,
    });
  });

  test('is refused if there is no model', (t) => {
    assert.throws(() => onnxEmbedder({ folder: temporaryDirectory(t) }), /has no model\.onnx/);
  });
});
