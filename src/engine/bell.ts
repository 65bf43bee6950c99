/** Something was committed: whoever may have something to do now is told, once a turn. */
import type { World } from '../kernel/world.ts';

export class Bell {
  readonly #world: World;
  readonly #listeners = new Set<() => void>();
  #isRinging = false;

  constructor(world: World) {
    this.#world = world;
  }

  ring(): void {
    if (this.#isRinging) return;
    this.#isRinging = true;
    this.#world.afterTurn(() => {
      this.#isRinging = false;
      for (const listener of this.#listeners) listener();
    });
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
