/** What every process that answers HTTP begins and ends with. */
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
  /** Who may ask. Without keys or Membership in it, whoever is on this machine. */
  readonly keys?: Omit<AccessSettings, 'world' | 'audit' | 'log'> | undefined;
  /** The same, ready made. */
  readonly access?: ServiceAccess | undefined;
}

export interface OpenGuard {
  readonly access: ServiceAccess;
  /** No key is asked for: only this machine may ask. */
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
  // Where only services have a key, everybody else on this machine needs none.
  const isAsked = isGuarded || keys.internalKey !== undefined;
  return {
    access: isAsked ? opened.access : localAccess(),
    isLocal: !isGuarded,
    close: opened.close,
  };
}

/** What is being answered is answered, but not waited for without end. */
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
    'without keys, whoever reaches Pawl may do everything, so it listens on this machine only, ' +
      `and not on ${host}: set PAWL_API_KEYS or PAWL_MEMBERSHIP_URL, or leave --host out`,
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
  const message = `Pawl cannot listen on ${host}:${port} (${why}): choose another with --port`;
  return new Failure('usage_error', message, { cause: error });
}

export function addressOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
