/**
 * What is known of the service from its answers: whether it can be reached, and what is left of the
 * caller's share. All requests go through here, so nothing has to ask for it.
 */
export type Standing = 'connecting' | 'live' | 'offline' | 'refused';

export interface Share {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

export class Connection {
  readonly #listeners = new Set<() => void>();
  #standing: Standing = 'connecting';
  #share: Share | undefined;

  get standing(): Standing {
    return this.#standing;
  }

  get share(): Share | undefined {
    return this.#share;
  }

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** `fetch`, watched. Only the stream says that the page is live: it is what keeps it so. */
  fetch: typeof fetch = async (input, init) => {
    const isStream = /\/stream$/.test(new URL(String(input), location.href).pathname);
    try {
      const response = await fetch(input, init);
      this.#readShare(response.headers);
      if (isStream) this.#stand(response.ok ? 'live' : 'refused');
      return response;
    } catch (error) {
      if (!init?.signal?.aborted) this.#stand('offline');
      throw error;
    }
  };

  #readShare(headers: Headers): void {
    const limit = headers.get('x-ratelimit-limit');
    if (limit === null) return;
    this.#share = {
      limit: Number(limit),
      remaining: Number(headers.get('x-ratelimit-remaining')),
      resetAt: Number(headers.get('x-ratelimit-reset')) * 1000,
    };
  }

  #stand(standing: Standing): void {
    if (this.#standing === standing) return;
    this.#standing = standing;
    for (const listener of this.#listeners) listener();
  }
}
