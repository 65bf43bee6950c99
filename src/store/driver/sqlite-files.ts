/** The files of the embedded database: its folder, the store itself, and its log. */
import { mkdirSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';

export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `the data folder ${folder} cannot be made (${code})`;
    throw new Failure('store_read_only', message, { cause: error });
  }
}

/**
 * Whether the path still leads to the file that is open. A file that was removed takes all that is
 * written, and loses it with the last process that has it open.
 */
export class StoreFile {
  readonly #path: string;
  readonly #opened: Stats | undefined;
  #checkedAt = 0;

  constructor(path: string) {
    this.#path = path;
    this.#opened = statSync(path, { throwIfNoEntry: false });
  }

  check(): void {
    const now = statSync(this.#path, { throwIfNoEntry: false });
    if (now && now.ino === this.#opened?.ino && now.dev === this.#opened.dev) return;
    const what = now ? 'another file has taken the place of' : 'somebody has removed';
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    throw new Failure('store_gone', `${what} ${this.#path}, which this process has open`);
  }

  /** For what is asked many times in a second. */
  checkNowAndThen(now: number): void {
    if (now - this.#checkedAt < limits.store.fileCheckMs && now >= this.#checkedAt) return;
    this.check();
    this.#checkedAt = now;
  }
}

/** The file into which SQLite writes what is committed. */
export class Log {
  readonly #path: string;
  #file: FileHandle | undefined;
  #failure: Failure | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * What could not be flushed once is never known to be on disk: a second try would say it is. So
   * nothing is acknowledged any more until the store is opened again.
   */
  async flush(): Promise<void> {
    this.check();
    try {
      this.#file ??= await open(this.#path, 'r+');
      await this.#file.datasync();
    } catch (error) {
      const message = `the disk did not take what was committed: ${String(error)}`;
      this.#failure = new Failure('storage_failed', message, { cause: error });
      throw this.#failure;
    }
  }

  /** Throws if a flush has failed. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
