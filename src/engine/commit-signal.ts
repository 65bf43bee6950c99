/**
 * Signals commits. Listeners for news are called for every commit, listeners for work only if there
 * may be something to claim. Several signals in one turn are delivered once per listener.
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
