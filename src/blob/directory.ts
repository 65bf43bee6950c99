/**
 * Blobs as files. A blob is written to a temporary name, flushed, renamed, and its folder flushed:
 * a crash leaves a whole blob or none, and what `put` has returned survives a power cut.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../kernel/failure.ts';
import type { World } from '../kernel/world.ts';
import { failpoint } from '../observe/failpoint.ts';
import type { BlobStore } from './blob.ts';

export function openBlobDirectory(directory: string, world: World): BlobStore {
  const folderOf = (key: string): string => join(directory, key.slice(0, 2));
  return {
    async put(bytes) {
      const key = createHash('sha256').update(bytes).digest('hex');
      const folder = folderOf(key);
      const path = join(folder, key);
      if (await exists(path)) return key;
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
    async get(key) {
      try {
        return await readFile(join(folderOf(key), key));
      } catch (error) {
        throw new Failure('source_missing', `the stored bytes ${key} are gone`, { cause: error });
      }
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
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
