/**
 * Blobs as files. A blob is written to a temporary name, flushed and renamed, then its folder is
 * flushed: a crash leaves a whole blob or none, and a stored blob survives a power loss.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../kernel/failure/failure.ts';
import type { World } from '../kernel/world.ts';
import { failpoint } from '../observe/failpoint.ts';
import type { StreamedBlobStore, SweptBlobs } from './blob.ts';
import { sweepFolder } from './sweep-directory.ts';

/** Folders are named by the first two hex digits of the keys. */
const folders = 256;

export function openBlobDirectory(directory: string, world: World): StreamedBlobStore & SweptBlobs {
  const folderOf = (key: string): string => join(directory, key.slice(0, 2));
  const makeFolder = async (folder: string): Promise<void> => {
    // A new folder must survive too, so its parent is flushed.
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
      if (await isThere(path, world.now())) return key;
      await makeFolder(folderOf(key));
      failpoint(world, 'blob.before-write');
      const temporary = `${path}.${world.uuid()}.part`;
      await writeNew(temporary, (file) => file.writeFile(bytes));
      await publish(temporary, key);
      return key;
    },
    async putStream(pieces) {
      // The temporary file lies in one of the swept folders. Its own folder is known only at the
      // end.
      const name = createHash('sha256').update(world.uuid()).digest('hex');
      await makeFolder(folderOf(name));
      const temporary = join(folderOf(name), `${name}.stream.part`);
      try {
        const { key, bytes } = await writePieces(temporary, pieces);
        if (await isThere(join(folderOf(key), key), world.now())) return { key, bytes };
        await makeFolder(folderOf(key));
        await publish(temporary, key);
        return { key, bytes };
      } finally {
        await rm(temporary, { force: true });
      }
    },
    async getPart(key, place) {
      return readPart(await openBlob(join(folderOf(key), key), key), key, place);
    },
    async getStream(key) {
      return (await openBlob(join(folderOf(key), key), key)).createReadStream();
    },
    parts: folders,
    sweep({ part, ...sweep }) {
      const folder = join(directory, part.toString(16).padStart(2, '0'));
      return sweepFolder(folder, sweep);
    },
    async get(key) {
      return readFile(join(folderOf(key), key)).catch((error: unknown) => {
        throw unread(key, error);
      });
    },
  };
}

/** Writes a new file and flushes it. */
async function writeNew(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writePieces(path: string, pieces: AsyncIterable<Uint8Array>) {
  const hash = createHash('sha256');
  let bytes = 0;
  await writeNew(path, async (file) => {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      await file.writeFile(piece);
    }
  });
  return { key: hash.digest('hex'), bytes };
}

function openBlob(path: string, key: string): Promise<FileHandle> {
  return open(path, 'r').catch((error: unknown) => {
    throw unread(key, error);
  });
}

/**
 * Only ENOENT means that the blob is gone. Too many open files or a failing disk may be temporary.
 */
function unread(key: string, cause: unknown): Failure {
  if ((cause as { code?: string }).code === 'ENOENT') {
    return new Failure('source_missing', `the stored bytes ${key} are gone`, { cause });
  }
  const message = `the stored bytes ${key} could not be read: ${String(cause)}`;
  return new Failure('storage_failed', message, { cause });
}

async function readPart(
  file: FileHandle,
  key: string,
  { at, bytes }: { readonly at: number; readonly bytes: number },
): Promise<Uint8Array> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
    if (bytesRead === bytes) return buffer;
    throw new Failure('source_missing', `the stored bytes ${key} are cut short`);
  } catch (error) {
    throw error instanceof Failure ? error : unread(key, error);
  } finally {
    await file.close();
  }
}

/** Whether the blob exists. If so, its timestamp is set to now, as if it was just written. */
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
