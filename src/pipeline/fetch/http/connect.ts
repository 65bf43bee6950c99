/**
 * Connects only to checked addresses. The name goes into the Host header, SNI and the certificate
 * check; the address is the one that `resolve.ts` approved. A connection serves one request:
 * neither TLS session nor cookie is reused, so a site that has blocked a session gets a new one
 * each time.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector, Client } from 'undici';
import { loadOnce } from '../../../concurrency/load-once.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { literalOf } from '../address.ts';
import type { Target } from './resolve.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** The name on the certificate; absent if the URL has an address. */
  readonly servername: string | undefined;
}

/** Opens a socket to exactly this address, or rejects. An abort destroys the socket. */
export type Connect = (endpoint: Endpoint, signal: AbortSignal) => Promise<Socket>;

export const systemConnect: Connect = (endpoint, signal) =>
  new Promise((resolve, reject) => {
    const { address, port, isSecure, servername } = endpoint;
    const socket = isSecure
      ? connectTls({
          host: address,
          port,
          ...(servername !== undefined && { servername }),
          ALPNProtocols: ['http/1.1'],
        })
      : connectTcp({ host: address, port });
    const abort = (): void => void socket.destroy(signal.reason);
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', abort);
      reject(error);
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', fail);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', abort);
      socket.removeListener('error', fail);
      resolve(socket);
    });
  });

export interface Timers {
  setTimer(run: () => void, delayMs: number): () => void;
}

/** Tries the addresses in turn, within the time limit for one connection. */
async function connectTo(
  target: Target,
  { connect, timers, signal }: { connect: Connect; timers: Timers; signal: AbortSignal },
): Promise<Socket> {
  const { url, port } = target;
  const isSecure = url.protocol === 'https:';
  const servername = literalOf(url.hostname) === undefined ? hostnameOf(url) : undefined;
  const addresses = target.addresses.slice(0, limits.fetch.addressesTriedMax);
  const timeoutMs = limits.fetch.connectMs / addresses.length;
  let lastError: unknown;
  for (const address of addresses) {
    try {
      const controller = new AbortController();
      const cancel = timers.setTimer(() => {
        const message = `${url.host} did not take the connection within its time`;
        controller.abort(new Failure('connection_timeout', message));
      }, timeoutMs);
      const endpoint = { address, port, isSecure, servername };
      const attempt = connect(endpoint, AbortSignal.any([signal, controller.signal]));
      const socket = await attempt.finally(cancel);
      checkPeer(socket, address);
      return socket;
    } catch (error) {
      lastError = error;
      if (signal.aborted) break;
    }
  }
  throw lastError;
}

function hostnameOf(url: URL): string {
  return url.hostname.replace(/\.$/, '');
}

/** Defence in depth: verifies that the peer is the checked address. */
function checkPeer(socket: Socket, address: string): void {
  const { remoteAddress } = socket;
  if (remoteAddress === undefined || plain(remoteAddress) === plain(address)) return;
  socket.destroy();
  throw new Failure('private_address', 'the connection led to another address than was checked');
}

function plain(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]/`).hostname : address;
}

export interface ClientOptions {
  readonly connect: Connect;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/** With the first request, since most commands send none and it takes as long as the engine. */
export const loadUndici = loadOnce(() => import('undici'));

/** A client for one request to one target. The caller destroys it. */
export async function clientFor(target: Target, options: ClientOptions): Promise<Client> {
  const { Client: HttpClient } = await loadUndici();
  const { connectMs, headersMs, idleMs, headerBytesMax } = limits.fetch;
  const connector: buildConnector.connector = (_, callback) => {
    connectTo(target, options).then(
      (socket) => callback(null, socket),
      (error) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
  return new HttpClient(target.url.origin, {
    connect: connector,
    connectTimeout: connectMs,
    headersTimeout: headersMs,
    bodyTimeout: idleMs,
    maxHeaderSize: headerBytesMax,
    pipelining: 1,
    allowH2: false,
  });
}
