/** Start and end of every process that serves HTTP. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { isLoopbackHost } from '../../http/guard.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { OtlpSender } from '../../observe/otlp.ts';
import type { ServiceAccess } from '../../service/access.ts';
import { localAccess } from '../../service/access.ts';
import { type AccessSettings, assembleAccess } from '../adapter/access.ts';

export interface GuardOptions {
  /** Access control. Without keys or Membership, every client on this machine has access. */
  readonly keys?: Omit<AccessSettings, 'world' | 'audit' | 'log'> | undefined;
  /** Access control that is already open; used instead of `keys`. */
  readonly access?: ServiceAccess | undefined;
}

export interface OpenGuard {
  readonly access: ServiceAccess;
  /** No key is required: only clients on this machine have access. */
  readonly isLocal: boolean;
  close(): void;
}

export function openSpans(
  { otlpUrl: url }: { readonly otlpUrl?: string | undefined },
  world: World,
  onError: (what: string, error: unknown) => void,
): OtlpSender | undefined {
  return url === undefined ? undefined : new OtlpSender({ url, world, onError });
}

export async function openGuard(
  { access, keys }: GuardOptions,
  parts: Pick<AccessSettings, 'world' | 'audit' | 'log'>,
): Promise<OpenGuard> {
  if (access) return { access, isLocal: false, close: () => undefined };
  if (!keys) return { access: localAccess(), isLocal: true, close: () => undefined };
  const opened = await assembleAccess({ ...keys, ...parts });
  const { isGuarded } = opened.access;
  // If only services have a key, other clients on this machine need none.
  const isAsked = isGuarded || keys.internalKey !== undefined;
  return {
    access: isAsked ? opened.access : localAccess(),
    isLocal: !isGuarded,
    close: opened.close,
  };
}

/** Lets open requests finish, for a bounded time. */
export async function drained(app: FastifyInstance, world: World): Promise<void> {
  const closeAll = (): void => app.server.closeAllConnections();
  const cancel = world.setTimer(closeAll, limits.loop.shutdownGraceMs);
  await app.close();
  cancel();
}

export function refuseOpenHost(host: string): void {
  if (isLoopbackHost(host)) return;
  throw new Failure(
    'usage_error',
    'without keys, every client that reaches Pawl may do everything, so it listens on this ' +
      `machine only, not on ${host}: set PAWL_API_KEYS or PAWL_MEMBERSHIP_URL, or omit --host`,
    { context: { advice: 'Set PAWL_API_KEYS or PAWL_MEMBERSHIP_URL, or omit --host.' } },
  );
}

/** Without keys, every page in the browser of this machine could read and change everything. */
export function refuseOpenOrigins(origins: readonly string[] = []): void {
  if (!origins.includes('*')) return;
  throw new Failure(
    'usage_error',
    'without keys, PAWL_CORS_ORIGINS must name the origins: * would open this service to every ' +
      'page in a browser on this machine',
  );
}

const listenCodes = ['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND'];

export function listenFailure(
  error: unknown,
  { host, port }: { host: string; port: number },
): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !listenCodes.includes(code)) return error;
  const why = code === 'EADDRINUSE' ? 'something else listens there' : code;
  const message = `Pawl cannot listen on ${host}:${port} (${why})`;
  const advice = 'Stop what listens there, or choose another port with --port; 0 is a free one.';
  return new Failure('usage_error', message, { cause: error, context: { advice } });
}

export function addressOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
