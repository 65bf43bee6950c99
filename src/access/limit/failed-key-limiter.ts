/**
 * Limits wrong keys from one address. Each may cost a request to Membership, so an address with too
 * many is blocked for a while; keys that are already known to be valid are not affected.
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

  /** How long the address is blocked; 0 if it is not. */
  async waitMs(source: string): Promise<number> {
    // With a limit of zero nothing is added: this only reads.
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
