/**
 * Scratch folders, one per attempt. The name of a folder identifies the process that owns it, so
 * that a later start can tell which folders are abandoned. It does so from the moment the folder
 *
 * exists: no crash can leave one with an unknown owner.
 *
 * No path leaves this folder of the code: failures name the problem, not the path.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Liveness } from '../../engine/item/liveness.ts';
import { Failure, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Log } from '../../observe/log.ts';
import type { WorkspaceOwner } from '../registry.ts';

export interface WorkspacesOptions {
  /** Holds only workspaces. */
  readonly folder: string;
  readonly liveness: Liveness;
  readonly world: World;
  readonly log: Log;
}

export class Workspaces implements WorkspaceOwner {
  readonly #options: WorkspacesOptions;
  readonly #paths = new Map<string, string>();
  readonly #removals = new Set<Promise<void>>();
  #cancelTouch: (() => void) | undefined;

  constructor(options: WorkspacesOptions) {
    this.#options = options;
  }

  create(id: string): void {
    const { folder, liveness } = this.#options;
    const path = join(folder, `${ownerName(liveness)}-${id}`);
    withoutPath('made', () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      mkdirSync(path, { mode: 0o700 });
    });
    this.#paths.set(id, path);
    if (this.#cancelTouch === undefined) this.#touchLater();
  }

  has(id: string): boolean {
    const path = this.#paths.get(id);
    return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  }

  /** The path of the workspace files. */
  pathOf(id: string): string {
    const path = this.#paths.get(id);
    if (path !== undefined) return path;
    throw new Failure('internal_error', `there is no workspace for ${id}`);
  }

  remove(id: string): void {
    const path = this.#paths.get(id);
    if (path === undefined) return;
    this.#forget(id);
    this.#removeFolder(path);
  }

  abandon(id: string): void {
    this.#forget(id);
  }

  /** Resolves when the files of all removed workspaces are gone. */
  async settled(): Promise<void> {
    while (this.#removals.size > 0) await Promise.all(this.#removals);
  }

  /** Removes workspaces of dead processes. Returns the number of folders. */
  async removeAbandoned(): Promise<number> {
    const { folder, world, liveness, log } = this.#options;
    const oldest = world.now() - limits.attempt.silentMsMax;
    const owned = new Set(this.#paths.values());
    const left = namesIn(folder)
      .map((name) => ({ name, path: join(folder, name) }))
      .filter(({ path }) => !owned.has(path))
      .filter(({ name, path }) => isAbandoned(ownerFate(name, liveness), path, oldest));
    for (const { path } of left) this.#removeFolder(path);
    await this.settled();
    if (left.length > 0) log.info(`removed ${left.length} workspaces of ended processes`);
    return left.length;
  }

  #forget(id: string): void {
    this.#paths.delete(id);
    if (this.#paths.size > 0) return;
    this.#cancelTouch?.();
    this.#cancelTouch = undefined;
  }

  #removeFolder(path: string): void {
    const removal = rm(path, { recursive: true, force: true, maxRetries: 3 })
      .catch((error) => {
        const { code } = toFailure(error);
        this.#options.log.error(
          `a workspace could not be removed (${code}); the next start will remove it`,
        );
      })
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  /** Processes on other machines see by the time of the folder that this one is alive. */
  #touchLater(): void {
    const { world, log } = this.#options;
    this.#cancelTouch = world.setTimer(() => {
      const now = world.now() / 1000;
      try {
        for (const path of this.#paths.values()) utimesSync(path, now, now);
      } catch (error) {
        log.error(`a workspace could not be touched (${toFailure(error).code})`);
      }
      this.#touchLater();
    }, limits.attempt.touchMs);
  }
}

type Fate = 'alive' | 'dead' | 'unknown' | 'foreign';

/** The description of a failed file operation, without its path. */
export function withoutPath<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw workspaceFailure(what, error);
  }
}

/** The cause is omitted: it contains the path, and logging a failure logs its causes. */
export function workspaceFailure(what: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { code } = toFailure(error);
  const name = (error as NodeJS.ErrnoException).code ?? 'no code';
  return new Failure(code, `the workspace of the attempt could not be ${what} (${name})`);
}

function ownerName({ host, pid, processStarted }: Liveness): string {
  return [...hostMarks(host), pid, processStarted || 'x'].join('.');
}

/** The machine, its boot and its pid namespace, each short enough for a name. */
function hostMarks(host: string): string[] {
  const [machine = '', boot = '', ...namespace] = host.split('/');
  return [machine, boot, namespace.join('/')].map((part) =>
    createHash('sha256').update(part).digest('hex').slice(0, 8),
  );
}

const namePattern = /^([0-9a-f]{8})\.([0-9a-f]{8})\.([0-9a-f]{8})\.(\d+)\.([0-9a-z]+)-/;

function ownerFate(name: string, liveness: Liveness): Fate {
  const [, machine, boot, namespace, pid, started] = namePattern.exec(name) ?? [];
  if (pid === undefined) return 'foreign';
  const [ownMachine, ownBoot, ownNamespace] = hostMarks(liveness.host);
  if (machine !== ownMachine) return 'unknown';
  // The machine has rebooted since, so its older processes are gone.
  if (boot !== ownBoot) return 'dead';
  if (namespace !== ownNamespace) return 'unknown';
  const startedAt = started === 'x' ? '' : (started ?? '');
  return liveness.isAlive(Number(pid), startedAt) ? 'alive' : 'dead';
}

function isAbandoned(fate: Fate, path: string, oldest: number): boolean {
  if (fate !== 'unknown') return fate === 'dead';
  return (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? oldest) < oldest;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw workspaceFailure('looked for', error);
  }
}
