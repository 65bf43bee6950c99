/**
 * `fetch` for links from third parties: the name is resolved once and checked, and only the checked
 * address is connected to. A second lookup could return another address.
 */
import type { RequestInit } from 'undici';
import { clientFor, loadUndici, systemConnect } from './connect.ts';
import type { FetcherOptions } from './http.ts';
import { resolveTarget, systemResolve } from './resolve.ts';

export type FetchLink = (url: URL, init: LinkInit) => Promise<Response>;

interface LinkInit extends Omit<globalThis.RequestInit, 'signal'> {
  readonly signal: AbortSignal;
}

export function linkFetcher(options: FetcherOptions): FetchLink {
  const { world, allowed, resolve = systemResolve, connect = systemConnect } = options;
  return async (url, init) => {
    const target = await resolveTarget(url, { resolve, allowed });
    const client = await clientFor(target, { connect, timers: world, signal: init.signal });
    const { fetch: fetchWith } = await loadUndici();
    const asked = { ...init, dispatcher: client, redirect: 'error' } as RequestInit;
    // Closes once the response has been read or abandoned.
    const answered = fetchWith(url, asked).finally(
      () => void client.close().catch(() => undefined),
    );
    return (await answered) as unknown as Response;
  };
}
