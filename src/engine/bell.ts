/** Something was committed: whoever may have something to do now is told, once for all of it. */
export class Bell {
  readonly #listeners = new Set<() => void>();
  #isRinging = false;

  ring(): void {
    if (this.#isRinging) return;
    this.#isRinging = true;
    queueMicrotask(() => {
      this.#isRinging = false;
      for (const listener of this.#listeners) listener();
    });
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
