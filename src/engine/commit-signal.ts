/**
 * Something was committed. Whoever tells of it is rung for any news; whoever works, only when there
 * may be something to claim. However often it rings at once, each listener is told once.
 */
export type Ring = 'news' | 'work';

export class CommitSignal {
  readonly #listeners: Readonly<Record<Ring, Set<() => void>>> = {
    news: new Set(),
    work: new Set(),
  };
  readonly #rung = new Set<Ring>();

  /** Work is news, too. */
  ring(ring: Ring): void {
    if (this.#rung.size === 0) queueMicrotask(() => this.#tell());
    this.#rung.add('news');
    this.#rung.add(ring);
  }

  listen(ring: Ring, listener: () => void): () => void {
    this.#listeners[ring].add(listener);
    return () => this.#listeners[ring].delete(listener);
  }

  #tell(): void {
    const rung = [...this.#rung];
    this.#rung.clear();
    for (const ring of rung) for (const listener of this.#listeners[ring]) listener();
  }
}
