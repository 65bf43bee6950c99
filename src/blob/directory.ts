/**
 * Blobs as files. A blob is written to a temporary name, flushed, renamed, and its folder flushed:
 * a crash leaves a whole blob or none, and what `put` has returned survives a power cut.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../kernel/failure.ts';
import type { World } from '../kernel/world.ts';
import { failpoint } from '../observe/failpoint.ts';
import type { BlobStore, SweptBlobs } from './blob.ts';
import { sweepFolder } from './sweep-directory.ts';

/** Blobs fall into folders by the first two letters of their keys. */
const folders = 256;

export function openBlobDirectory(directory: string, world: World): BlobStore & SweptBlobs {
  const folderOf = (key: string): string => join(directory, key.slice(0, 2));
  return {
    async put(bytes) {
      const key = createHash('sha256').update(bytes).digest('hex');
      const folder = folderOf(key);
      const path = join(folder, key);
      if (await isThere(path, world.now())) return key;
      // A folder that is new must itself survive, in the one that holds it.
      if (await mkdir(folder, { recursive: true })) await syncFolder(directory);
      failpoint(world, 'blob.before-write');
      const temporary = `${path}.${world.uuid()}.part`;
      const file = await open(temporary, 'wx');
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      failpoint(world, 'blob.before-rename');
      await rename(temporary, path);
      failpoint(world, 'blob.after-rename');
      await syncFolder(folder);
      return key;
    },
    parts: folders,
    sweep({ part, ...sweep }) {
      const folder = join(directory, part.toString(16).padStart(2, '0'));
      return sweepFolder(folder, sweep);
    },
    async get(key) {
      try {
        return await readFile(join(folderOf(key), key));
      } catch (error) {
        throw new Failure('source_missing', `the stored bytes ${key} are gone`, { cause: error });
      }
    },
  };
}

/** Whether the blob is there; if so, it is as young from now on as one that was just written. */
async function isThere(path: string, now: number): Promise<boolean> {
  const at = new Date(now);
  return utimes(path, at, at).then(
    () => true,
    () => false,
  );
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
