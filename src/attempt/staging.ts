/**
 * What people have brought for the next attempt: files that were sent, files that lie on this
 * machine, addresses. Sent files are on disk, each whole or not at all, in a folder of this process
 * that a later start removes.
 */
import { createHash } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { World } from '../kernel/world.ts';
import { canonicalUrl, gateOf, readUrl } from '../pipeline/fetch/url.ts';
import { type Workspaces, workspaceFailure } from './workspace.ts';

export type StagedKind = 'upload' | 'file' | 'url';

export interface StagedSource {
  readonly id: string;
  readonly caller: string;
  readonly kind: StagedKind;
  /** What makes it the same document next time. */
  readonly source: string;
  /** What people call it. */
  readonly name: string;
  /** Not known of an address before it was fetched. */
  readonly bytes: number | null;
  readonly gate?: string | undefined;
  readonly stagedAt: number;
}

export interface StagingOptions {
  readonly workspaces: Workspaces;
  readonly world: World;
  /** Whether an attempt works on the source now, so that it cannot be taken away. */
  readonly isInUse: (id: string) => boolean;
}

export class Staging {
  readonly #options: StagingOptions;
  readonly #sources = new Map<string, StagedSource>();
  /** The name of the folder, once there is one. */
  #folder: string | undefined;
  /** Of files that are whole, and of those that are still coming. */
  #bytes = 0;
  #isClosed = false;

  constructor(options: StagingOptions) {
    this.#options = options;
  }

  /** In the order in which they came. */
  list(caller: string): StagedSource[] {
    return [...this.#sources.values()].filter((source) => source.caller === caller);
  }

  /** Takes a file as it comes. What breaks off leaves nothing. */
  async stageUpload(
    caller: string,
    file: { readonly name: string; readonly pieces: AsyncIterable<Uint8Array> },
  ): Promise<StagedSource> {
    this.#checkRoom(caller);
    const name = nameOf(file.name);
    const id = this.#newId();
    const path = join(this.#folderPath(), id);
    let bytes = 0;
    try {
      bytes = await this.#receive(path, name, file.pieces);
      this.#checkRoom(caller);
    } catch (error) {
      await removeFile(path);
      this.#bytes -= bytes;
      throw error;
    }
    return this.#add({ id, caller, kind: 'upload', source: `upload:${name}`, name, bytes });
  }

  /** A file of this machine. It is read when the attempt runs, not now. */
  async stagePath(caller: string, path: string): Promise<StagedSource> {
    this.#checkRoom(caller);
    if (!isAbsolute(path)) throw new Failure('bad_request', 'the path of a file is absolute');
    const source = normalize(path);
    const found = await stat(source).catch((error: NodeJS.ErrnoException) => {
      const code = error.code === 'ENOENT' ? 'source_missing' : 'source_unreadable';
      throw new Failure(code, `${path} cannot be read (${error.code})`);
    });
    if (!found.isFile()) throw new Failure('source_unreadable', `${path} is not a file`);
    const id = this.#newId();
    return this.#add({ id, caller, kind: 'file', source, name: source, bytes: found.size });
  }

  async stageUrl(caller: string, address: string): Promise<StagedSource> {
    this.#checkRoom(caller);
    const url = readUrl(address);
    const source = canonicalUrl(url);
    if (source.length > limits.job.sourceUrlCharactersMax) {
      const bound = limits.job.sourceUrlCharactersMax;
      throw new Failure('invalid_url', `an address has ${source.length} of ${bound} characters`);
    }
    const gate = gateOf(url);
    const id = this.#newId();
    return this.#add({ id, caller, kind: 'url', source, name: source, bytes: null, gate });
  }

  /** Those of the sources, if the caller may take them back now. */
  removable(caller: string, ids: readonly string[]): StagedSource[] {
    const found = ids.map((id) => {
      const source = this.#sources.get(id);
      if (source?.caller === caller) return source;
      throw new Failure('source_unknown', `nothing is staged under ${id}`);
    });
    if (!found.some(({ id }) => this.#options.isInUse(id))) return found;
    const message = 'an attempt is at work on what was staged: stop it first';
    throw new Failure('action_not_allowed', message);
  }

  /** The sources have been dealt with, or taken back. */
  async drop(sources: readonly StagedSource[]): Promise<void> {
    for (const { id, kind, bytes } of sources) {
      if (!this.#sources.delete(id) || kind !== 'upload') continue;
      this.#bytes -= bytes ?? 0;
      await removeFile(this.pathOf(id));
    }
  }

  /** Where a sent file is. */
  pathOf(id: string): string {
    return join(this.#folderPath(), id);
  }

  /** The application ends: nothing that was staged outlives it. */
  abandon(): void {
    this.#isClosed = true;
    this.#sources.clear();
    if (this.#folder !== undefined) this.#options.workspaces.abandon(this.#folder);
  }

  /** Whatever was staged under the same name before has been replaced by it. */
  async #add(source: Omit<StagedSource, 'stagedAt'>): Promise<StagedSource> {
    const staged = Object.freeze({ ...source, stagedAt: this.#options.world.now() });
    const { isInUse } = this.#options;
    const same = this.list(staged.caller).filter((other) => other.source === staged.source);
    this.#sources.set(staged.id, staged);
    await this.drop(same.filter(({ id }) => !isInUse(id)));
    return staged;
  }

  #newId(): string {
    return createHash('sha256').update(this.#options.world.uuid()).digest('hex').slice(0, 16);
  }

  #folderPath(): string {
    const { workspaces, world } = this.#options;
    if (this.#folder === undefined) {
      const name = `staging-${world.uuid()}`;
      workspaces.create(name);
      this.#folder = name;
    }
    return workspaces.pathOf(this.#folder);
  }

  #checkRoom(caller: string): void {
    if (this.#isClosed) throw new Failure('machine_busy', 'the application is about to end');
    const { sourcesMax, stagedBytesMax } = limits.attempt;
    if (this.list(caller).length >= sourcesMax) {
      throw new Failure('too_many_sources', `${sourcesMax} sources are staged, which is the most`);
    }
    if (this.#bytes <= stagedBytesMax) return;
    throw new Failure('payload_too_large', `more than ${stagedBytesMax} bytes would be staged`);
  }

  /** Streams to the disk, and stops within one piece of a bound. */
  async #receive(path: string, name: string, pieces: AsyncIterable<Uint8Array>): Promise<number> {
    const { sourceBytesMax } = limits.document;
    const file = await open(path, 'wx', 0o600).catch((error) => {
      throw workspaceFailure('written', error);
    });
    let bytes = 0;
    try {
      for await (const piece of pieces) {
        bytes += piece.length;
        this.#bytes += piece.length;
        if (bytes > sourceBytesMax) {
          throw new Failure('source_too_large', `${name} has more than ${sourceBytesMax} bytes`);
        }
        if (this.#bytes > limits.attempt.stagedBytesMax) {
          const bound = limits.attempt.stagedBytesMax;
          throw new Failure('payload_too_large', `more than ${bound} bytes would be staged`);
        }
        await file.write(piece).catch((error) => {
          throw workspaceFailure('written', error);
        });
      }
      return bytes;
    } catch (error) {
      this.#bytes -= bytes;
      throw error;
    } finally {
      await file.close();
    }
  }
}

async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch((error) => {
    throw workspaceFailure('cleared', error);
  });
}

/** A name may have folders in it, but leads nowhere; and nothing in it steers what shows it. */
function nameOf(given: string): string {
  const parts = given
    .split(/[\\/]/)
    .map((part) => part.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim());
  const name = parts.filter((part) => !/^\.*$/.test(part)).join('/');
  if (name === '') throw new Failure('bad_request', 'every file needs a name');
  // The end of a long name says what kind of file it is.
  return name.slice(-limits.attempt.nameCharactersMax);
}
