/**
 * Blobs as files. A blob is written to a temporary name, flushed, renamed, and its folder flushed:
 * a crash leaves a whole blob or none, and what `put` has returned survives a power cut.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../kernel/failure.ts';
import type { World } from '../kernel/world.ts';
import { failpoint } from '../observe/failpoint.ts';
import type { StreamedBlobStore } from './blob.ts';

export function openBlobDirectory(directory: string, world: World): StreamedBlobStore {
  const folderOf = (key: string): string => join(directory, key.slice(0, 2));
  const makeFolder = async (folder: string): Promise<void> => {
    // A folder that is new must itself survive, in the one that holds it.
    if (await mkdir(folder, { recursive: true })) await syncFolder(directory);
  };
  const publish = async (temporary: string, key: string): Promise<void> => {
    failpoint(world, 'blob.before-rename');
    await rename(temporary, join(folderOf(key), key));
    failpoint(world, 'blob.after-rename');
    await syncFolder(folderOf(key));
  };
  return {
    async put(bytes) {
      const key = createHash('sha256').update(bytes).digest('hex');
      const path = join(folderOf(key), key);
      if (await exists(path)) return key;
      await makeFolder(folderOf(key));
      failpoint(world, 'blob.before-write');
      const temporary = `${path}.${world.uuid()}.part`;
      await writeNew(temporary, (file) => file.writeFile(bytes));
      await publish(temporary, key);
      return key;
    },
    async putStream(pieces) {
      await makeFolder(directory);
      const temporary = join(directory, `${world.uuid()}.part`);
      const hash = createHash('sha256');
      let bytes = 0;
      try {
        await writeNew(temporary, async (file) => {
          for await (const piece of pieces) {
            hash.update(piece);
            bytes += piece.length;
            await file.write(piece);
          }
        });
        const key = hash.digest('hex');
        if (await exists(join(folderOf(key), key))) return { key, bytes };
        await makeFolder(folderOf(key));
        await publish(temporary, key);
        return { key, bytes };
      } finally {
        await rm(temporary, { force: true });
      }
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

/** Writes a file that was not there, and flushes it. */
async function writeNew(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
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
