/**
 * `pawl restore`: a store from a backup. It is written beside its place, checked as `pawl doctor`
 * checks a store, and moved to its place at the end: a failed restore leaves nothing.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Failure } from '../../../kernel/failure/failure.ts';
import { onlyArgument } from '../../action.ts';
import { answer, type Call, type Command, usageError } from '../../command.ts';
import { count } from '../../view/wording.ts';
import { blobFolder, hashed, refuseServer } from './backup.ts';
import { databaseName, keyOfBlob, type Manifest, manifestName, readManifest } from './manifest.ts';
import { damaged, readTar, type TarEntry } from './tar.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'make a store from a backup, and check it',
  usage: ['restore FILE [--data DIR]'],
  isLocal: true,
  examples: ['pawl restore pawl-2026-11-18.tar --data ./restored'],
  run: async (call) => {
    const path = resolve(onlyArgument(call.positionals, 'file'));
    refuseServer(call);
    const place = resolve(call.config.data);
    await refuseExisting(call, place);
    const partial = `${place}.${process.pid}.part`;
    const file = await openBackup(path);
    try {
      const manifest = await extract(call, file, partial);
      const checks = await examined(call, partial);
      await moveTo(partial, place);
      const blobs = count(manifest.blobs.count, 'blob');
      const what = `the database and ${blobs}, checked`;
      const sentence = `restored ${place} of ${manifest.created_at}: ${what}`;
      return answer(call, { data: place, ...manifest, checks }, sentence);
    } finally {
      await file.close();
      await rm(partial, { recursive: true, force: true });
    }
  },
};

/** Only an absent or empty folder is filled. */
async function refuseExisting(call: Call, place: string): Promise<void> {
  const isUsed = existsSync(place) && (await readdir(place)).length > 0;
  const how = 'Name an absent or empty folder with --data. A restore never overwrites a store.';
  if (isUsed) throw usageError(`${place} is not empty`, how);
  const folder = blobFolder(call);
  if (folder === undefined || folder === join(place, 'blobs')) return;
  const advice = 'Unset it for the restore, then move the folder blobs/ of the store there.';
  throw usageError('PAWL_BLOB_URL names another folder for blobs', advice);
}

async function openBackup(path: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(
      `${path} cannot be read (${code})`,
      'Name a file that `pawl backup` has made.',
    );
  }
}

async function extract(call: Call, file: FileHandle, folder: string): Promise<Manifest> {
  await makeFolder(folder);
  let manifest: Manifest | undefined;
  let database: Manifest['database'] | undefined;
  let blobs = 0;
  for await (const { pieces, ...entry } of readTar(file)) {
    call.interrupt.throwIfAborted();
    if (entry.name === manifestName) manifest = readManifest(await textOf(entry, pieces));
    else if (entry.name === databaseName) {
      const sha256 = await save(join(folder, databaseName), pieces);
      database = { bytes: entry.bytes, sha256 };
    } else {
      await saveBlob(folder, entry, pieces);
      blobs += 1;
    }
  }
  if (!manifest || !database) throw damaged('it is not complete');
  if (database.sha256 !== manifest.database.sha256) throw damaged('the database was changed');
  if (blobs !== manifest.blobs.count) throw damaged('blobs are missing');
  return manifest;
}

/** The name of a blob is the hash of its bytes. */
async function saveBlob(
  folder: string,
  { name }: TarEntry,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  const key = keyOfBlob(name);
  if (key === undefined) throw damaged(`it has an entry ${JSON.stringify(name)}`);
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  if ((await save(path, pieces)) !== key) throw damaged(`the bytes of ${name} were changed`);
}

/** Returns the hash of what was written. */
async function save(path: string, pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of hashed(pieces, hash)) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

const manifestBytesMax = 1 << 20;

async function textOf({ bytes }: TarEntry, pieces: AsyncIterable<Uint8Array>): Promise<string> {
  if (bytes > manifestBytesMax) throw damaged('its manifest is too large');
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts).toString('utf8');
}

/** Fails if the store would not pass `pawl doctor`. */
async function examined(call: Call, folder: string) {
  const { checkStore, withoutModels } = await import('../doctor/doctor.ts');
  const config = { ...call.config, ...withoutModels, data: folder };
  const findings = await checkStore({ ...call, config });
  const failed = findings.filter(({ verdict }) => verdict === 'fail');
  if (failed.length === 0) return findings;
  const what = failed.map(({ check, found }) => `${check}: ${found}`).join('; ');
  const advice = 'Use another backup, or a newer version of Pawl if the schema is newer.';
  throw new Failure('store_damaged', `the restored store does not pass the check (${what})`, {
    context: { advice },
  });
}

async function makeFolder(folder: string): Promise<void> {
  const { makeStoreFolder } = await import('../../../app/store-folder.ts');
  makeStoreFolder(folder);
}

async function moveTo(partial: string, place: string): Promise<void> {
  if (existsSync(place)) await rmdir(place);
  await rename(partial, place);
}
