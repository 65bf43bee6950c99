/**
 * Watches a folder and all folders below it on Linux, with one watch for each folder: the system
 * tells what happens to the files in it. The recursive watch of Node takes one for each file, of
 * which a user has a limited number, and 2.5 KiB.
 */
import { type FSWatcher, lstatSync, readdirSync, statSync, watch } from 'node:fs';
import { basename, join } from 'node:path';
import { isIgnored } from './files.ts';

export interface TreeOptions {
  readonly onChange: () => void;
  /** It is closed, and tells no more. */
  readonly onError: (error: unknown) => void;
}

export interface TreeWatcher {
  close(): void;
}

/** Throws if the system gives no events. */
export function watchTree(root: string, options: TreeOptions): TreeWatcher {
  const tree = new Tree(root, options);
  tree.open();
  return tree;
}

interface Watched {
  readonly watcher: FSWatcher;
  /** Tells it from a later folder of its name. */
  readonly identity: string;
}

class Tree {
  readonly #root: string;
  readonly #options: TreeOptions;
  readonly #watched = new Map<string, Watched>();
  #isClosed = false;

  constructor(root: string, options: TreeOptions) {
    this.#root = root;
    this.#options = options;
  }

  open(): void {
    try {
      this.#watch(this.#root, rootAt(this.#root));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  /** Watches before it reads: what is created in between is not missed. */
  #watch(path: string, identity: string): void {
    const watcher = watch(path);
    this.#watched.set(path, { watcher, identity });
    watcher.on('change', (kind, name) => this.#changed(path, kind, name));
    watcher.on('error', (error) => this.#fail(error));
    for (const name of foldersIn(path)) this.#add(join(path, name));
  }

  /** What is gone by now, or cannot be read, has no events. */
  #add(path: string): void {
    const identity = folderAt(path);
    if (identity === undefined) return;
    try {
      this.#watch(path, identity);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
  }

  #changed(folder: string, kind: string, name: string | Buffer | null): void {
    if (this.#isClosed) return;
    try {
      if (kind === 'rename') {
        if (folder === this.#root) this.#checkRoot(name);
        if (name !== null && !isIgnored(String(name))) this.#follow(join(folder, String(name)));
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#options.onChange();
  }

  /** A folder may have come, gone or been exchanged. */
  #follow(path: string): void {
    const known = this.#watched.get(path);
    if (known && known.identity === folderAt(path)) return;
    if (known) this.#remove(path);
    this.#add(path);
  }

  #remove(path: string): void {
    for (const [other, { watcher }] of this.#watched) {
      if (other !== path && !other.startsWith(`${path}/`)) continue;
      watcher.close();
      this.#watched.delete(other);
    }
  }

  /** Events say nothing of a folder in its place. It tells of its own end by its name. */
  #checkRoot(name: string | Buffer | null): void {
    const isOfItself = String(name) === basename(this.#root);
    if (isOfItself && folderAt(join(this.#root, String(name))) === undefined)
      throw gone(this.#root);
    if (rootAt(this.#root) !== this.#watched.get(this.#root)?.identity) throw gone(this.#root);
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.onError(error);
  }
}

function rootAt(path: string): string {
  return String(statSync(path).ino);
}

function gone(path: string): Error {
  return Object.assign(new Error(`the folder ${path} is gone`), { code: 'ENOENT' });
}

/** Undefined: no folder, or one behind a link, which a source does not read either. */
function folderAt(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  // A number of an inode is soon used again.
  return found?.isDirectory() ? `${found.ino} ${found.birthtimeMs}` : undefined;
}

function foldersIn(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.flatMap((entry) =>
    entry.isDirectory() && !isIgnored(entry.name) ? [entry.name] : [],
  );
}

function isUnreadable(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES';
}
