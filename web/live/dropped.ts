/** Files that were dropped anywhere in the workbench, until the page that adds them takes them. */
import type { Dropped } from '../page/chosen-file.ts';

export class DroppedFiles {
  readonly #listeners = new Set<() => void>();
  #waiting: Dropped | undefined;

  give(dropped: Dropped): void {
    this.#waiting = dropped;
    for (const listener of this.#listeners) listener();
  }

  take(): Dropped | undefined {
    const dropped = this.#waiting;
    this.#waiting = undefined;
    return dropped;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
