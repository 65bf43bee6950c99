/**
 * The connection state as seen from responses: whether the service is reachable, and the rest of
 * the caller's rate limit. All requests go through here, so nothing has to poll for it.
 */
export type ConnectionState = 'connecting' | 'live' | 'offline' | 'refused';

export interface Share {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

export class Connection {
  readonly #listeners = new Set<() => void>();
  #state: ConnectionState = 'connecting';
  #share: Share | undefined;

  get state(): ConnectionState {
    return this.#state;
  }

  get share(): Share | undefined {
    return this.#share;
  }

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** `fetch` that records the connection state. Only the stream marks the page as live. */
  fetch: typeof fetch = async (input, init) => {
    const isStream = /\/stream$/.test(new URL(String(input), location.href).pathname);
    try {
      const response = await fetch(input, init);
      this.#readShare(response.headers);
      if (isStream) this.#setState(response.ok ? 'live' : 'refused');
      return response;
    } catch (error) {
      if (!init?.signal?.aborted) this.#setState('offline');
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

  #setState(state: ConnectionState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
