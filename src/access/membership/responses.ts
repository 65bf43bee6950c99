/** Responses of Membership, cached under the hash of the key. */
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Claims } from './claims.ts';

export type MembershipResponse =
  | { readonly isValid: true; readonly claims: Claims }
  | { isValid: false };

export interface CachedResponse {
  readonly answer: MembershipResponse;
  /** How long it may still be used. */
  readonly ttlMs: number;
}

/** A cache shared by several processes. It never throws: without it, Membership is asked. */
export interface ResponseCache {
  get(hash: string): Promise<CachedResponse | undefined>;
  set(hash: string, known: CachedResponse): Promise<void>;
}

interface CacheEntry extends CachedResponse {
  readonly heldAt: number;
}

/** The cache of this process. Evicts the least recently used response. */
export class MemoryResponses {
  readonly #world: World;
  readonly #held = new Map<string, CacheEntry>();

  constructor(world: World) {
    this.#world = world;
  }

  get size(): number {
    return this.#held.size;
  }

  get(hash: string): MembershipResponse | undefined {
    const held = this.#held.get(hash);
    if (held === undefined) return undefined;
    this.#held.delete(hash);
    const ageMs = this.#world.now() - held.heldAt;
    // A clock that was set back must not extend the validity of a revoked key.
    if (ageMs < 0 || ageMs >= held.ttlMs) return undefined;
    this.#held.set(hash, held);
    return held.answer;
  }

  set(hash: string, { answer, ttlMs }: CachedResponse): void {
    this.#held.delete(hash);
    this.#held.set(hash, { answer, ttlMs, heldAt: this.#world.now() });
    const [oldest] = this.#held.keys();
    if (this.#held.size > limits.membership.cachedKeysMax && oldest !== undefined) {
      this.#held.delete(oldest);
    }
  }
}
