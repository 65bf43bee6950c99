/**
 * The language model for text recognition, unpacked once for each user of the machine. It comes
 * with an npm package, so nothing is downloaded.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Failure } from '../../../kernel/failure.ts';

const file = 'eng.traineddata';
const version = '4.0.0_best_int';

/** The folder that holds the model. Several processes may come here at once. */
export async function ocrFolder(): Promise<string> {
  const folder = join(tmpdir(), `pawl-ocr-${process.getuid?.() ?? 'user'}-${version}`);
  const path = join(folder, file);
  const packed = packedPath();
  const bytes = (await readFile(packed)).subarray(-4).readUInt32LE();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await refuseForeign(folder);
  const found = await stat(path).catch(() => undefined);
  if (found?.size === bytes) return folder;
  // Under another name until it is whole.
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, gunzipSync(await readFile(packed)));
  await rename(draft, path);
  return folder;
}

function packedPath(): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('@tesseract.js-data/eng/package.json'));
  return join(folder, version, `${file}.gz`);
}

/** Others may write into the folder of temporary files: what they put there is not read. */
async function refuseForeign(folder: string): Promise<void> {
  const { uid } = await stat(folder);
  const own = process.getuid?.() ?? uid;
  if (uid !== own) {
    throw new Failure('machine_busy', `${folder} belongs to another user: remove it, then retry`);
  }
}
