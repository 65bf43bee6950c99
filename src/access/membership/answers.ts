/** Responses of Membership, cached under the hash of the key. */
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Claims } from './claims.ts';

export type Answer = { readonly isValid: true; readonly claims: Claims } | { isValid: false };

export interface KnownAnswer {
  readonly answer: Answer;
  /** How long it may still be used. */
  readonly ttlMs: number;
}

/** A cache shared by several processes. It never throws: without it, Membership is asked. */
export interface AnswerCache {
  get(hash: string): Promise<KnownAnswer | undefined>;
  set(hash: string, known: KnownAnswer): Promise<void>;
}

interface Held {
  readonly answer: Answer;
  readonly heldAt: number;
  readonly ttlMs: number;
}

/** The cache of this process. Evicts the least recently used response. */
export class MemoryAnswers {
  readonly #world: World;
  readonly #held = new Map<string, Held>();

  constructor(world: World) {
    this.#world = world;
  }

  get size(): number {
    return this.#held.size;
  }

  get(hash: string): Answer | undefined {
    const held = this.#held.get(hash);
    if (held === undefined) return undefined;
    this.#held.delete(hash);
    const ageMs = this.#world.now() - held.heldAt;
    // A clock that was set back must not extend the validity of a revoked key.
    if (ageMs < 0 || ageMs >= held.ttlMs) return undefined;
    this.#held.set(hash, held);
    return held.answer;
  }

  set(hash: string, { answer, ttlMs }: KnownAnswer): void {
    this.#held.delete(hash);
    this.#held.set(hash, { answer, ttlMs, heldAt: this.#world.now() });
    const [oldest] = this.#held.keys();
    if (this.#held.size > limits.membership.cachedKeysMax && oldest !== undefined) {
      this.#held.delete(oldest);
    }
  }
}
