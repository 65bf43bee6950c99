/**
 * A local model in ONNX format: a folder with `model.onnx` and its tokenizer. The runtime is not
 * part of Pawl, because its installation downloads hundreds of megabytes: users install
 * `onnxruntime-node` themselves. A text's vector is the mean of its tokens' vectors.
 */
import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Failure } from '../../kernel/failure/failure.ts';
import type { Embedder, HybridWeights, PaidVector } from './embedding.ts';
import { toSignedBytes } from './vector-bytes.ts';
import { readWordPiece, type WordPiece } from './word-piece.ts';

/** The part of `onnxruntime-node` that Pawl uses. */
export interface OnnxRuntime {
  readonly Tensor: new (
    type: 'int64',
    values: BigInt64Array,
    dims: readonly number[],
  ) => OnnxTensor;
  readonly InferenceSession: { create(path: string): Promise<OnnxSession> };
}

export interface OnnxTensor {
  readonly data: ArrayLike<number | bigint>;
  readonly dims: readonly number[];
}

export interface OnnxSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(inputs: Readonly<Record<string, OnnxTensor>>): Promise<Readonly<Record<string, OnnxTensor>>>;
}

export interface OnnxOptions {
  readonly folder: string;
  /** If absent, the installed one. */
  readonly loadRuntime?: (() => Promise<OnnxRuntime>) | undefined;
}

/** A sentence model knows more than words: docs/decisions/0185-weights-of-sentence-models.md. */
const hybridWeights: HybridWeights = { keyword: 0.15, vector: 0.35, feedback: 0.5 };

/** Larger batches gain nothing on a CPU and waste memory on padding. */
const textsAtOnce = 16;
const modelFiles = ['model.onnx', 'onnx/model.onnx', 'model_quantized.onnx'];

export function onnxEmbedder({ folder, loadRuntime = installedRuntime }: OnnxOptions): Embedder {
  const path = modelPathOf(folder);
  let model: Promise<Model> | undefined;
  const load = async (): Promise<Model> => {
    const runtime = await loadRuntime();
    return new Model(runtime, await runtime.InferenceSession.create(path), readWordPiece(folder));
  };
  return {
    model: modelIdOf(folder),
    hybridWeights,
    // Nothing is paid, but CPU time is worth caching too.
    meter: { centsPerMillionTokens: 0 },
    async embed(texts, signal, keep) {
      model ??= load();
      const loaded = await model;
      const vectors: Uint8Array[] = [];
      let tokensIn = 0;
      for (let start = 0; start < texts.length; start += textsAtOnce) {
        signal.throwIfAborted();
        const some = await loaded.embed(texts.slice(start, start + textsAtOnce));
        await keep?.(some);
        for (const { vector, tokens } of some) {
          vectors.push(vector);
          tokensIn += tokens;
        }
      }
      return { vectors, tokensIn, costCents: 0 };
    },
  };
}

/** Another file with the same name is another model; its size distinguishes them well enough. */
export function modelIdOf(folder: string): string {
  return `onnx:${basename(resolve(folder))}:${statSync(modelPathOf(folder)).size}`;
}

function modelPathOf(folder: string): string {
  const found = modelFiles.map((name) => join(folder, name)).find((path) => existsSync(path));
  if (found) return found;
  const message = `${folder} has no ${modelFiles[0]}: name the folder of a model`;
  throw new Failure('bad_request', message);
}

async function installedRuntime(): Promise<OnnxRuntime> {
  // Not a literal: the package may be absent, and its types with it.
  const name = 'onnxruntime-node';
  try {
    const loaded = (await import(name)) as { default?: OnnxRuntime } & OnnxRuntime;
    return loaded.default ?? loaded;
  } catch (error) {
    // The CPU runtime is in the package; its install script only adds GPU libraries.
    const install = `npm install --ignore-scripts ${name}`;
    const message = `an ONNX model needs the package ${name}: run \`${install}\` beside Pawl`;
    throw new Failure('package_missing', message, { cause: error });
  }
}

class Model {
  readonly #runtime: OnnxRuntime;
  readonly #session: OnnxSession;
  readonly #tokenizer: WordPiece;
  /** One run at a time: each uses all cores. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(runtime: OnnxRuntime, session: OnnxSession, tokenizer: WordPiece) {
    this.#runtime = runtime;
    this.#session = session;
    this.#tokenizer = tokenizer;
  }

  embed(texts: readonly string[]): Promise<PaidVector[]> {
    const mine = this.#turn.then(() => this.#run(texts));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #run(texts: readonly string[]): Promise<PaidVector[]> {
    const rows = texts.map((text) => this.#tokenizer.encode(text));
    const length = Math.max(...rows.map((row) => row.length));
    const outputs = await this.#session.run(this.#inputsOf(rows, length));
    const hidden = outputs.last_hidden_state ?? outputs[this.#session.outputNames[0] ?? ''];
    const dimensions = hidden?.dims[2] ?? 0;
    const isExpected = hidden?.dims[0] === texts.length && hidden.dims[1] === length;
    if (!hidden || !isExpected || hidden.data.length !== texts.length * length * dimensions) {
      const message = `the model gave ${JSON.stringify(hidden?.dims)}, not a vector for each token`;
      throw new Failure('step_output_invalid', message);
    }
    return texts.map((text, index) => {
      const count = rows[index]?.length ?? 0;
      const mean = meanOf(hidden.data, { start: index * length, count, dimensions });
      return { text, vector: toSignedBytes(mean), tokens: count };
    });
  }

  #inputsOf(rows: readonly (readonly number[])[], length: number) {
    const tensor = (idAt: (row: readonly number[], place: number) => number): OnnxTensor => {
      const values = new BigInt64Array(rows.length * length);
      rows.forEach((row, index) => {
        for (let place = 0; place < length; place++) {
          values[index * length + place] = BigInt(idAt(row, place));
        }
      });
      return new this.#runtime.Tensor('int64', values, [rows.length, length]);
    };
    const all: Readonly<Record<string, () => OnnxTensor>> = {
      input_ids: () => tensor((row, place) => row[place] ?? this.#tokenizer.padding),
      attention_mask: () => tensor((row, place) => (place < row.length ? 1 : 0)),
      token_type_ids: () => tensor(() => 0),
    };
    return Object.fromEntries(
      this.#session.inputNames.map((name) => {
        const make = all[name];
        if (make) return [name, make()];
        throw new Failure('bad_request', `the model asks for ${name}, which Pawl does not know`);
      }),
    );
  }
}

/** The mean over the tokens of the text, without the padding. */
function meanOf(
  values: ArrayLike<number | bigint>,
  { start, count, dimensions }: { start: number; count: number; dimensions: number },
): Float64Array {
  const mean = new Float64Array(dimensions);
  for (let token = start; token < start + count; token++) {
    for (let place = 0; place < dimensions; place++) {
      const value = Number(values[token * dimensions + place]) / count;
      mean[place] = (mean[place] as number) + value;
    }
  }
  if (mean.every(Number.isFinite)) return mean;
  throw new Failure('step_output_invalid', 'the model gave numbers that are not finite');
}
