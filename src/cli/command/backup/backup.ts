/**
 * `pawl backup`: the store in one file, while it is in use.
 *
 * Blobs are copied, then the database at one moment, then the blobs that are new. A blob is on disk
 * before a row names it, and a blob that was stored or named again since the first pass is too
 * young to be swept. So every blob that the copied rows name is in the backup.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { onlyArgument } from '../../action.ts';
import {
  answer,
  type Call,
  type Command,
  refuseMissing,
  storePath,
  usageError,
} from '../../command.ts';
import { bytes, count } from '../../view/wording.ts';
import {
  blobName,
  databaseName,
  format,
  keyOfBlob,
  type Manifest,
  manifestName,
} from './manifest.ts';
import { TarWriter } from './tar.ts';

export const backup: Command = {
  name: 'backup',
  summary: 'copy the store to one file, while it is in use',
  usage: ['backup FILE'],
  isLocal: true,
  examples: ['pawl backup pawl-$(date +%F).tar'],
  run: async (call) => {
    const path = resolve(onlyArgument(call.positionals, 'file'));
    refuseServer(call);
    refuseMissing(call);
    if (existsSync(path)) {
      throw usageError(`${path} exists already`, 'Name a new file: a backup is never overwritten.');
    }
    const partial = `${path}.${process.pid}.part`;
    try {
      const manifest = await write(call, partial);
      await rename(partial, path);
      return await tell(call, path, manifest);
    } finally {
      await rm(partial, { force: true });
      await rm(`${partial}.db`, { force: true });
    }
  },
};

export function refuseServer({ config }: Call): void {
  if (config.databaseUrl === undefined) return;
  const how = 'Use `pg_dump` and `pg_restore` for the rows, and copy the blobs after the dump.';
  throw usageError('this store is on Postgres, which has backups of its own', how);
}

async function tell(call: Call, path: string, manifest: Manifest): Promise<number> {
  const size = (await stat(path)).size;
  const { blobs } = manifest;
  const kept =
    blobs.kept === 'here'
      ? `the database and ${count(blobs.count, 'blob')}`
      : 'the database; the blobs are in the bucket, which needs a backup of its own';
  const sentence = `${path}: ${bytes(size)}, ${kept}`;
  return answer(call, { path, bytes: size, ...manifest }, sentence);
}

async function write(call: Call, path: string): Promise<Manifest> {
  const file = await open(path, 'wx', 0o600);
  try {
    const tar = new TarWriter(file);
    const folder = blobFolder(call);
    const copied = new Set<string>();
    if (folder !== undefined) await addBlobs(call, tar, { folder, copied });
    const database = await addDatabase(call, tar, `${path}.db`);
    if (folder !== undefined) await addBlobs(call, tar, { folder, copied });
    const manifest: Manifest = {
      format,
      created_at: new Date().toISOString(),
      database,
      blobs: { kept: folder === undefined ? 'bucket' : 'here', count: copied.size },
    };
    const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    await tar.add({ name: manifestName, bytes: text.length }, once(text));
    await tar.end();
    return manifest;
  } finally {
    await file.close();
  }
}

/** Undefined if the blobs are in a bucket. */
export function blobFolder({ config }: Call): string | undefined {
  const { blobUrl } = config;
  if (blobUrl === undefined) return join(resolve(config.data), 'blobs');
  const [, folder] = /^file:(?:\/\/(?=\/))?(.+)$/.exec(blobUrl) ?? [];
  return folder === undefined ? undefined : resolve(folder);
}

async function addDatabase(
  call: Call,
  tar: TarWriter,
  copy: string,
): Promise<Manifest['database']> {
  const { backupSqlite } = await import('../../../store/driver/sqlite-backup.ts');
  await backupSqlite(storePath(call.config), copy);
  const { size } = await stat(copy);
  const hash = createHash('sha256');
  await tar.add({ name: databaseName, bytes: size }, hashed(createReadStream(copy), hash));
  return { bytes: size, sha256: hash.digest('hex') };
}

interface BlobCopy {
  readonly folder: string;
  readonly copied: Set<string>;
}

async function addBlobs(call: Call, tar: TarWriter, { folder, copied }: BlobCopy): Promise<void> {
  for (const part of await namesIn(folder)) {
    for (const key of await namesIn(join(folder, part))) {
      call.interrupt.throwIfAborted();
      const name = blobName(key);
      if (copied.has(key) || keyOfBlob(name) === undefined) continue;
      if (await addBlob(tar, join(folder, part, key), name)) copied.add(key);
    }
  }
}

/** False if the blob was swept since it was listed: no row names it. */
async function addBlob(tar: TarWriter, path: string, name: string): Promise<boolean> {
  const blob = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!blob) return false;
  try {
    const { size } = await blob.stat();
    await tar.add({ name, bytes: size }, blob.createReadStream({ autoClose: false }));
    return true;
  } finally {
    await blob.close();
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

async function* once(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}

export async function* hashed(
  pieces: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
}
