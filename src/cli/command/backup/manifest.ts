/** The last entry of a backup. A file without it was cut off. */
import { Failure } from '../../../kernel/failure/failure.ts';
import { damaged } from './tar.ts';

export const manifestName = 'manifest.json';
export const databaseName = 'pawl.db';
/** The form of the archive. */
export const format = 1;

export interface Manifest {
  readonly format: number;
  readonly created_at: string;
  readonly database: { readonly bytes: number; readonly sha256: string };
  /** `bucket`: the bytes are in a bucket, which has backups of its own. */
  readonly blobs: { readonly kept: 'here' | 'bucket'; readonly count: number };
}

export function blobName(key: string): string {
  return `blobs/${key.slice(0, 2)}/${key}`;
}

/** The key of a blob, or undefined if the entry is not a blob. */
export function keyOfBlob(name: string): string | undefined {
  const [, folder, key] = /^blobs\/([0-9a-f]{2})\/([0-9a-f]{64})$/.exec(name) ?? [];
  return key?.startsWith(folder ?? '') ? key : undefined;
}

export function readManifest(text: string): Manifest {
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(text) as Partial<Manifest>;
  } catch {
    throw damaged('its manifest is not JSON');
  }
  if (manifest.format !== format) {
    const message = `the backup has format ${manifest.format}, and this Pawl reads ${format}`;
    const advice = 'Restore it with the version of Pawl that made it.';
    throw new Failure('bad_request', message, { context: { advice } });
  }
  if (!manifest.database || !manifest.blobs) throw damaged('its manifest is incomplete');
  return manifest as Manifest;
}
