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
    putParts: (parts) => putInParts(parts, { directory, folderOf, world }),
    async getPart(key, { at, bytes }) {
      const file = await openBlob(join(folderOf(key), key), key);
      try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
        if (bytesRead === bytes) return buffer;
        throw new Failure('source_missing', `the stored bytes ${key} are cut short`);
      } finally {
        await file.close();
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

/** The key is known only at the end: until then the bytes stand beside the folders. */
async function putInParts(
  parts: AsyncIterable<Uint8Array>,
  place: {
    readonly directory: string;
    readonly folderOf: (key: string) => string;
    readonly world: World;
  },
): Promise<string> {
  const { directory, folderOf, world } = place;
  await mkdir(directory, { recursive: true });
  const temporary = join(directory, `${world.uuid()}.part`);
  const hash = createHash('sha256');
  failpoint(world, 'blob.before-write');
  const file = await open(temporary, 'wx');
  try {
    for await (const part of parts) {
      hash.update(part);
      await file.writeFile(part);
    }
    await file.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  const key = hash.digest('hex');
  const folder = folderOf(key);
  if (await mkdir(folder, { recursive: true })) await syncFolder(directory);
  failpoint(world, 'blob.before-rename');
  await rename(temporary, join(folder, key));
  failpoint(world, 'blob.after-rename');
  await syncFolder(folder);
  return key;
}

async function openBlob(path: string, key: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw new Failure('source_missing', `the stored bytes ${key} are gone`, { cause: error });
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
