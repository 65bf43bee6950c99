/**
 * The models on this machine: a folder for each, with the files of the model and their checksums.
 * A model is written beside its place and renamed when it is whole, so a folder with a name is
 * complete. The model file of a hub must match a checksum that was known before the download.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../kernel/failure/failure.ts';
import { modelIdOf } from './onnx-embedder.ts';

export interface HubFile {
  /** Below the address of the model. */
  readonly path: string;
  /** In the model's folder. */
  readonly name: string;
  /** Undefined: the checksum of the first download is recorded. */
  readonly sha256: string | undefined;
}

export interface KnownModel {
  /** Of one revision, so that the files never change. */
  readonly address: string;
  readonly licence: string;
  readonly files: readonly HubFile[];
}

/** Models that can be added, and chosen as embedder, by their name alone. */
export const knownModels: Readonly<Record<string, KnownModel>> = {
  minilm: {
    address:
      'https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/' +
      '1110a243fdf4706b3f48f1d95db1a4f5529b4d41',
    licence: 'Apache-2.0',
    files: [
      {
        path: 'onnx/model.onnx',
        name: 'model.onnx',
        sha256: '6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452',
      },
      {
        path: 'tokenizer.json',
        name: 'tokenizer.json',
        sha256: 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037',
      },
      {
        path: 'vocab.txt',
        name: 'vocab.txt',
        sha256: '07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3',
      },
    ],
  },
};

/** The files of any other model on a hub, in the layout that exporters use. */
export function hubFiles(sha256: string): HubFile[] {
  return [
    { path: 'onnx/model.onnx', name: 'model.onnx', sha256 },
    { path: 'tokenizer.json', name: 'tokenizer.json', sha256: undefined },
  ];
}

const checksumFile = 'checksums.json';
const requiredFile = 'model.onnx';
const copiedFiles = [
  requiredFile,
  'model_quantized.onnx',
  'onnx/model.onnx',
  'vocab.txt',
  'tokenizer.json',
  'tokenizer_config.json',
  'config.json',
];
const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Far above the models that run on a CPU: it only ends an endless response. */
const fileBytesMax = 4 * 2 ** 30;

export interface InstalledModel {
  readonly name: string;
  readonly folder: string;
  /** As recorded in a corpus. */
  readonly model: string;
  readonly bytes: number;
}

export interface Verified extends InstalledModel {
  /** Empty if every file is as it was added. */
  readonly problems: readonly string[];
}

/** The folder of an installed model. */
export function installedFolder(models: string, name: string): string {
  const folder = join(models, name);
  if (existsSync(folder)) return folder;
  const add = `\`pawl models add ${name}\` or \`pawl models add ${name} FOLDER\``;
  throw new Failure('usage_error', `the model ${name} is not in ${models}: run ${add}`);
}

/** The folder of the installed model that a corpus was embedded with, if it is here. */
export function folderOfModel(models: string, model: string): string | undefined {
  const [, name = ''] = /^onnx:(.+):\d+$/.exec(model) ?? [];
  const folder = join(models, name);
  if (!namePattern.test(name) || !existsSync(folder)) return undefined;
  return modelIdOf(folder) === model ? folder : undefined;
}

export async function listModels(models: string): Promise<InstalledModel[]> {
  const names = await readdir(models).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const installed = names.filter((name) => namePattern.test(name)).sort();
  return Promise.all(installed.map((name) => describe(models, name)));
}

async function describe(models: string, name: string): Promise<InstalledModel> {
  const folder = join(models, name);
  const files = Object.keys(await readChecksums(folder));
  const sizes = await Promise.all(files.map((file) => sizeOf(join(folder, file))));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return { name, folder, model: modelIdOf(folder), bytes };
}

/** A missing file has no bytes here; `verifyModel` reports it. */
async function sizeOf(path: string): Promise<number> {
  return existsSync(path) ? (await stat(path)).size : 0;
}

/** Compares every file with its checksum. */
export async function verifyModel(models: string, name: string): Promise<Verified> {
  const folder = installedFolder(models, checkedName(name));
  const problems: string[] = [];
  for (const [file, expected] of Object.entries(await readChecksums(folder))) {
    const path = join(folder, file);
    if (!existsSync(path)) problems.push(`${file} is missing`);
    else if ((await sha256Of(path)) !== expected) problems.push(`${file} has changed`);
  }
  return { ...(await describe(models, name)), problems };
}

export interface AddFromFolder {
  readonly models: string;
  readonly name: string;
  readonly source: string;
  /** The expected checksum of the model file. */
  readonly sha256?: string | undefined;
}

export async function addFromFolder(options: AddFromFolder): Promise<InstalledModel> {
  const { models, name, source, sha256 } = options;
  // Refuses a folder without a model before anything is written.
  modelIdOf(source);
  return install(models, name, async (part) => {
    const files = copiedFiles.filter((file) => existsSync(join(source, file)));
    const checksums: Record<string, string> = {};
    for (const file of files) {
      await mkdir(dirname(join(part, file)), { recursive: true });
      await copyFile(join(source, file), join(part, file));
      checksums[file] = await sha256Of(join(part, file));
    }
    const model = files.find((file) => file.endsWith('.onnx')) ?? requiredFile;
    if (sha256 !== undefined) refuseOther(join(source, model), checksums[model], sha256);
    return checksums;
  });
}

export interface AddFromHub {
  readonly models: string;
  readonly name: string;
  /** The address above the files. */
  readonly address: string;
  readonly files: readonly HubFile[];
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

export async function addFromHub(options: AddFromHub): Promise<InstalledModel> {
  const { models, name, address, files } = options;
  return install(models, name, async (part) => {
    const checksums: Record<string, string> = {};
    for (const file of files) {
      const url = `${address.replace(/\/+$/, '')}/${file.path}`;
      const target = join(part, file.name);
      await download(url, target, options);
      const found = await sha256Of(target);
      if (file.sha256 !== undefined) refuseOther(url, found, file.sha256);
      checksums[file.name] = found;
    }
    return checksums;
  });
}

type Fill = (part: string) => Promise<Readonly<Record<string, string>>>;

async function install(models: string, name: string, fill: Fill): Promise<InstalledModel> {
  const folder = join(models, checkedName(name));
  if (existsSync(folder)) {
    const message = `${folder} exists: check it with \`pawl models verify ${name}\`, or remove it`;
    throw new Failure('usage_error', message);
  }
  const part = join(models, `.${name}.${process.pid}.part`);
  try {
    await mkdir(part, { recursive: true });
    const checksums = await fill(part);
    await writeFile(join(part, checksumFile), `${JSON.stringify(checksums, null, 2)}\n`);
    await rename(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
  return describe(models, name);
}

async function download(
  url: string,
  target: string,
  { fetch, signal }: Pick<AddFromHub, 'fetch' | 'signal'>,
): Promise<void> {
  const response = await fetch(url, { signal }).catch((error: unknown) => {
    throw new Failure('bad_request', `${url} cannot be reached`, { cause: error });
  });
  if (!response.ok || !response.body) {
    throw new Failure('bad_request', `${url} answered with status ${response.status}`);
  }
  let received = 0;
  const bounded = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      received += chunk.length;
      if (received > fileBytesMax) throw new Failure('bad_request', `${url} has no end`);
      yield chunk;
    }
  };
  await pipeline(Readable.fromWeb(response.body), bounded, createWriteStream(target), { signal });
}

function refuseOther(what: string, found: string | undefined, expected: string): void {
  if (found === expected.toLowerCase()) return;
  const message = `${what} has the checksum ${found}, not ${expected}: nothing was added`;
  throw new Failure('bad_request', message);
}

function checkedName(name: string): string {
  if (namePattern.test(name)) return name;
  const rule =
    'lower-case letters, digits, dots, hyphens and underscores, from a letter or digit on';
  throw new Failure('usage_error', `${JSON.stringify(name)} cannot name a model: use ${rule}`);
}

async function readChecksums(folder: string): Promise<Readonly<Record<string, string>>> {
  const path = join(folder, checksumFile);
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const message = `${path} cannot be read: remove ${folder} and add the model again`;
    throw new Failure('bad_request', message, { cause: error });
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
