/**
 * Sources for the next attempt: uploaded files, files on this machine, addresses. Uploaded files
 * are on disk, complete or absent, in a folder of this process that a later start removes.
 */
import { createHash } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { renamedFor } from '../../kernel/name/corpus-name.ts';
import type { World } from '../../kernel/world.ts';
import { canonicalUrl, gateOf, readUrl } from '../../pipeline/fetch/url.ts';
import { type Workspaces, workspaceFailure } from './workspace.ts';

export type StagedKind = 'upload' | 'file' | 'url';

export interface StagedSource {
  readonly id: string;
  readonly caller: string;
  readonly kind: StagedKind;
  /** Identifies the same document next time. */
  readonly source: string;
  /** The displayed name. */
  readonly name: string;
  /** Null for an address before it was fetched. */
  readonly bytes: number | null;
  readonly gate?: string | undefined;
  /** Its corpus. A source that was staged without one gets that of the first attempt. */
  readonly corpus?: string | undefined;
  readonly stagedAt: number;
}

export interface StagingOptions {
  readonly workspaces: Workspaces;
  readonly world: World;
  /** Whether an attempt works on the source now, so that it cannot be removed. */
  readonly isAtWorkOn: (source: StagedSource) => boolean;
  /** Whether an attempt works on the source, or would after a resume. */
  readonly isInNeedOf: (source: StagedSource) => boolean;
}

export interface SentFile {
  readonly name: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** One staging request: everything is staged at the end, or nothing. */
export interface StagingRequest {
  /** Receives a file as a stream. An interrupted upload leaves nothing. */
  upload(file: SentFile): Promise<StagedSource>;
  /** A file on this machine. It is read when the attempt runs, not now. */
  path(path: string): Promise<StagedSource>;
  url(address: string): Promise<StagedSource>;
  /** All sources of the request are for this corpus. */
  into(corpus: string): void;
  /** Stages everything. Earlier sources with the same names and corpus are replaced. */
  commit(): Promise<readonly StagedSource[]>;
  /** Nothing is staged, and earlier sources stay. */
  drop(): Promise<void>;
}

export class Staging {
  readonly #options: StagingOptions;
  readonly #sources = new Map<string, StagedSource>();
  /** The number of sources in open requests, by caller. */
  readonly #coming = new Map<string, number>();
  /** The name of the folder, once it exists. */
  #folder: string | undefined;
  /** Bytes of complete and incoming files, by caller. */
  readonly #bytes = new Map<string, number>();
  #isClosed = false;

  constructor(options: StagingOptions) {
    this.#options = options;
  }

  /** In the order of staging. */
  list(caller: string): StagedSource[] {
    return [...this.#sources.values()].filter((source) => source.caller === caller);
  }

  open(caller: string): StagingRequest {
    const taken: StagedSource[] = [];
    let corpus: string | undefined;
    const take = (source: StagedSource): StagedSource => {
      taken.push(source);
      this.#coming.set(caller, (this.#coming.get(caller) ?? 0) + 1);
      return source;
    };
    const end = (): void => {
      const left = (this.#coming.get(caller) ?? 0) - taken.length;
      if (left > 0) this.#coming.set(caller, left);
      else this.#coming.delete(caller);
    };
    return {
      upload: async (file) => take(await this.#takeUpload(caller, file)),
      path: async (path) => take(await this.#takePath(caller, path)),
      url: async (address) => take(this.#takeUrl(caller, address)),
      into: (name) => {
        corpus = name;
      },
      commit: async () => {
        end();
        if (this.#isClosed) throw closing();
        this.assign(taken, corpus);
        const names = new Map(taken.map(({ id, source }) => [source, id]));
        const replaced = this.list(caller).filter(
          (other) =>
            other.corpus === corpus &&
            names.has(other.source) &&
            names.get(other.source) !== other.id,
        );
        const { isInNeedOf } = this.#options;
        await this.drop(replaced.filter((source) => !isInNeedOf(source)));
        return taken.flatMap(({ id }) => this.#sources.get(id) ?? []);
      },
      drop: async () => {
        end();
        for (const source of taken) await this.#forget(source);
      },
    };
  }

  stageUpload(caller: string, file: SentFile): Promise<StagedSource> {
    return this.#one(caller, (request) => request.upload(file));
  }

  stagePath(caller: string, path: string): Promise<StagedSource> {
    return this.#one(caller, (request) => request.path(path));
  }

  stageUrl(caller: string, address: string): Promise<StagedSource> {
    return this.#one(caller, (request) => request.url(address));
  }

  async #one(
    caller: string,
    take: (request: StagingRequest) => Promise<StagedSource>,
  ): Promise<StagedSource> {
    const request = this.open(caller);
    const source = await take(request);
    await request.commit();
    return source;
  }

  /** The sources, if the caller may remove them now. */
  removable(caller: string, ids: readonly string[]): StagedSource[] {
    const found = ids.map((id) => {
      const source = this.#sources.get(id);
      if (source?.caller === caller) return source;
      throw new Failure('source_unknown', `nothing is staged under ${id}`);
    });
    if (!found.some((source) => this.#options.isAtWorkOn(source))) return found;
    const message = 'an attempt is working on the staged sources: stop it first';
    throw new Failure('action_not_allowed', message);
  }

  /** The sources are for this corpus from now on. */
  assign(sources: readonly StagedSource[], corpus: string | undefined): StagedSource[] {
    const assigned = sources.map((source) => Object.freeze({ ...source, corpus }));
    for (const source of assigned) this.#sources.set(source.id, source);
    return assigned;
  }

  /** Moves all staged sources of one caller to another. */
  adopt(from: string, to: string): void {
    for (const source of this.list(from)) {
      const { corpus } = source;
      const renamed = corpus && renamedFor(to, { caller: from, corpus });
      this.#sources.set(source.id, { ...source, caller: to, corpus: renamed });
    }
  }

  /** The sources have been processed or removed. */
  async drop(sources: readonly StagedSource[]): Promise<void> {
    for (const source of sources) {
      if (this.#sources.delete(source.id)) await this.#forget(source);
    }
  }

  /** The path of an uploaded file. */
  pathOf(id: string): string {
    return join(this.#folderPath(), id);
  }

  /** The application closes: staged sources are not kept. */
  abandon(): void {
    this.#isClosed = true;
    this.#sources.clear();
    if (this.#folder !== undefined) this.#options.workspaces.abandon(this.#folder);
  }

  async #takeUpload(caller: string, file: SentFile): Promise<StagedSource> {
    this.#checkRoom(caller);
    const name = nameOf(file.name);
    const id = this.#newId();
    const path = join(this.#folderPath(), id);
    let bytes = 0;
    try {
      bytes = await this.#receive(path, { caller, name, pieces: file.pieces });
      this.#checkRoom(caller);
    } catch (error) {
      await removeFile(path);
      this.#addBytes(caller, -bytes);
      throw error;
    }
    return this.#made({ id, caller, kind: 'upload', source: `upload:${name}`, name, bytes });
  }

  async #takePath(caller: string, path: string): Promise<StagedSource> {
    this.#checkRoom(caller);
    if (!isAbsolute(path)) throw new Failure('bad_request', 'the path of a file must be absolute');
    const source = normalize(path);
    const found = await stat(source).catch((error: NodeJS.ErrnoException) => {
      const code = error.code === 'ENOENT' ? 'source_missing' : 'source_unreadable';
      throw new Failure(code, `${path} cannot be read (${error.code})`);
    });
    if (!found.isFile()) throw new Failure('source_unreadable', `${path} is not a file`);
    const id = this.#newId();
    return this.#made({ id, caller, kind: 'file', source, name: source, bytes: found.size });
  }

  #takeUrl(caller: string, address: string): StagedSource {
    this.#checkRoom(caller);
    const url = readUrl(address);
    const source = canonicalUrl(url);
    if (source.length > limits.job.sourceUrlCharactersMax) {
      const bound = limits.job.sourceUrlCharactersMax;
      throw new Failure('invalid_url', `the address has ${source.length} of ${bound} characters`);
    }
    const gate = gateOf(url);
    const id = this.#newId();
    return this.#made({ id, caller, kind: 'url', source, name: source, bytes: null, gate });
  }

  #made(source: Omit<StagedSource, 'stagedAt'>): StagedSource {
    return Object.freeze({ ...source, stagedAt: this.#options.world.now() });
  }

  async #forget({ id, caller, kind, bytes }: StagedSource): Promise<void> {
    if (kind !== 'upload') return;
    this.#addBytes(caller, -(bytes ?? 0));
    await removeFile(this.pathOf(id));
  }

  #newId(): string {
    return createHash('sha256').update(this.#options.world.uuid()).digest('hex').slice(0, 16);
  }

  /** Created again if it was removed: its content is lost, but new files can be staged. */
  #folderPath(): string {
    const { workspaces, world } = this.#options;
    if (this.#folder === undefined || !workspaces.has(this.#folder)) {
      if (this.#folder !== undefined) workspaces.abandon(this.#folder);
      const name = `staging-${world.uuid()}`;
      workspaces.create(name);
      this.#folder = name;
    }
    return workspaces.pathOf(this.#folder);
  }

  #checkRoom(caller: string): void {
    if (this.#isClosed) throw closing();
    const { sourcesMax } = limits.attempt;
    if (this.list(caller).length + (this.#coming.get(caller) ?? 0) >= sourcesMax) {
      throw new Failure(
        'too_many_sources',
        `${sourcesMax} sources are staged, which is the maximum`,
      );
    }
    this.#checkBytes(caller);
  }

  #addBytes(caller: string, bytes: number): void {
    const sum = (this.#bytes.get(caller) ?? 0) + bytes;
    if (sum > 0) this.#bytes.set(caller, sum);
    else this.#bytes.delete(caller);
  }

  /** Each caller has its own limit, so that one alone cannot use all of the space. */
  #checkBytes(caller: string): void {
    const { stagedBytesMax, stagedBytesAllMax } = limits.attempt;
    if ((this.#bytes.get(caller) ?? 0) > stagedBytesMax) {
      throw new Failure('payload_too_large', `more than ${stagedBytesMax} bytes would be staged`);
    }
    const all = [...this.#bytes.values()].reduce((sum, bytes) => sum + bytes, 0);
    if (all <= stagedBytesAllMax || this.#makeRoom()) return;
    const message = `all callers together have staged ${stagedBytesAllMax} bytes, the maximum`;
    throw new Failure('payload_too_large', `${message}: try again when some of them are imported`);
  }

  /** Removes old sources that no attempt needs. True: space was freed. */
  #makeRoom(): boolean {
    const { world, isInNeedOf } = this.#options;
    const oldest = world.now() - limits.attempt.stagedMsMax;
    const left = [...this.#sources.values()].filter(
      (source) => source.kind === 'upload' && source.stagedAt < oldest && !isInNeedOf(source),
    );
    for (const source of left) {
      this.#sources.delete(source.id);
      // The space counts as free now. A file that cannot be removed is deleted with the folder.
      void this.#forget(source).catch(() => undefined);
    }
    return left.length > 0;
  }

  /** Streams to disk, and stops within one chunk of the limit. */
  async #receive(
    path: string,
    { caller, name, pieces }: SentFile & { readonly caller: string },
  ): Promise<number> {
    const { sourceBytesMax } = limits.document;
    const file = await open(path, 'wx', 0o600).catch((error) => {
      throw workspaceFailure('written', error);
    });
    let bytes = 0;
    try {
      for await (const piece of pieces) {
        bytes += piece.length;
        this.#addBytes(caller, piece.length);
        if (bytes > sourceBytesMax) {
          throw new Failure('source_too_large', `${name} has more than ${sourceBytesMax} bytes`);
        }
        this.#checkBytes(caller);
        await file.write(piece).catch((error) => {
          throw workspaceFailure('written', error);
        });
      }
      return bytes;
    } catch (error) {
      this.#addBytes(caller, -bytes);
      throw error;
    } finally {
      await file.close();
    }
  }
}

function closing(): Failure {
  return new Failure('machine_busy', 'the application is closing');
}

async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch((error) => {
    throw workspaceFailure('cleared', error);
  });
}

/** A name may contain folders, but cannot leave them, and has no control characters. */
function nameOf(given: string): string {
  const parts = given
    .split(/[\\/]/)
    .map((part) => part.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim());
  const name = parts.filter((part) => !/^\.*$/.test(part)).join('/');
  if (name === '') throw new Failure('bad_request', 'every file needs a name');
  // Keep the end of a long name: its extension gives the file type.
  return name.slice(-limits.attempt.nameCharactersMax);
}
