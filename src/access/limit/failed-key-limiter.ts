/**
 * Wrong keys from one source. Each may cost Membership a question, so a source that brings too many
 * is not listened to for a while; keys that are already known to be good are not affected.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { MemoryWindow } from './window.ts';

const { guessesMax, guessesWindowMs } = limits.key;

export class FailedKeyLimiter {
  readonly #window: MemoryWindow;

  constructor(world: World) {
    this.#window = new MemoryWindow(world);
  }

  /** For how long the source is not listened to; 0 if it is. */
  async waitMs(source: string): Promise<number> {
    // With no room at all nothing is added: this only looks.
    const { count } = await this.#take(source, 0);
    return count < guessesMax ? 0 : (await this.#take(source, guessesMax)).freesInMs;
  }

  async note(source: string): Promise<void> {
    await this.#take(source, guessesMax);
  }

  #take(source: string, limit: number) {
    return this.#window.take({
      callerId: source,
      limit,
      windowMs: guessesWindowMs,
      isSharing: false,
    });
  }
}
