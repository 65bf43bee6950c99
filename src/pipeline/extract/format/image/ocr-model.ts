/**
 * The language model for OCR, unpacked once per user of the machine. It comes with an npm package,
 * so nothing is downloaded. Pawl unpacks it before its first parser starts; parsers may read its
 * folder, and find it by this variable.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32, gunzipSync } from 'node:zlib';
import { Failure } from '../../../../kernel/failure/failure.ts';

export const ocrFolderVariable = 'OCR_FOLDER';

const file = 'eng.traineddata';
const version = '4.0.0_best_int';

/** The folder of the model, for OCR in this process. */
export async function ocrFolder(): Promise<string> {
  return process.env[ocrFolderVariable] ?? unpackOcrModel();
}

/** Safe for concurrent processes: each finds the complete model, or completes it. */
export async function unpackOcrModel(parent: string = tmpdir()): Promise<string> {
  const folder = join(parent, `pawl-ocr-${process.getuid?.() ?? 'user'}-${version}`);
  const path = join(folder, file);
  const packed = await readFile(packedPath());
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await refuseForeign(folder);
  if (await isWhole(path, packed)) return folder;
  // A temporary name until it is complete.
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, gunzipSync(packed));
  await rename(draft, path);
  return folder;
}

/** A gzip file ends with the checksum and the length of its content. */
async function isWhole(path: string, packed: Buffer): Promise<boolean> {
  const [checksum, bytes] = [
    packed.readUInt32LE(packed.length - 8),
    packed.readUInt32LE(packed.length - 4),
  ];
  const found = await stat(path).catch(() => undefined); // Not unpacked yet.
  return found?.size === bytes && crc32(await readFile(path)) === checksum;
}

function packedPath(): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('@tesseract.js-data/eng/package.json'));
  return join(folder, version, `${file}.gz`);
}

/** Other users may write into the temporary folder: their files are not read. */
async function refuseForeign(folder: string): Promise<void> {
  const { uid } = await stat(folder);
  const own = process.getuid?.() ?? uid;
  if (uid !== own) {
    throw new Failure('machine_busy', `${folder} belongs to another user: remove it, then retry`);
  }
}
