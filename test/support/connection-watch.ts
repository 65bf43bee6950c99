/**
 * Refuses every connection and lookup except to allowed ports of 127.0.0.1, and records what was
 * refused. As a module for `--import`, it watches a process from its start.
 */
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import net from 'node:net';

export interface Watch {
  readonly refused: readonly string[];
  /** Ports of 127.0.0.1 that may be connected to. */
  readonly ports: Set<number>;
  end(): void;
}

export function watchConnections(ports: Iterable<number>, tell?: (what: string) => void): Watch {
  const refused: string[] = [];
  const allowed = new Set(ports);
  const refuse = (what: string): Error => {
    refused.push(what);
    tell?.(what);
    return Object.assign(new Error(`refused by the test: ${what}`), { code: 'ECONNREFUSED' });
  };
  const { lookup } = dns;
  const { lookup: lookupLater } = dns.promises;
  const { connect } = net.Socket.prototype;
  const watched = (host: string) => host !== 'localhost' && net.isIP(host) === 0;
  Object.assign(dns, {
    lookup: (host: string, ...rest: unknown[]) => {
      const callback = rest.at(-1) as (error: Error) => void;
      if (watched(host)) return callback(refuse(`lookup of ${host}`));
      return Reflect.apply(lookup, dns, [host, ...rest]);
    },
  });
  Object.assign(dns.promises, {
    lookup: async (host: string, ...rest: unknown[]) => {
      if (watched(host)) throw refuse(`lookup of ${host}`);
      return Reflect.apply(lookupLater, dns.promises, [host, ...rest]);
    },
  });
  net.Socket.prototype.connect = function connectWatched(this: net.Socket, ...args: unknown[]) {
    const { host = 'localhost', port, path } = targetOf(args);
    const isAllowed = path !== undefined || (isHere(host) && allowed.has(Number(port)));
    if (isAllowed) return Reflect.apply(connect, this, args);
    const error = refuse(`connection to ${host}:${port}`);
    process.nextTick(() => this.destroy(error));
    return this;
  };
  const end = (): void => {
    Object.assign(dns, { lookup });
    Object.assign(dns.promises, { lookup: lookupLater });
    net.Socket.prototype.connect = connect;
  };
  return { refused, ports: allowed, end };
}

interface Target {
  readonly host?: string;
  readonly port?: number | string;
  readonly path?: string;
}

/** Sockets get arguments normalized by `net`, or those of the caller. */
function targetOf([first, second]: readonly unknown[]): Target {
  const given = Array.isArray(first) ? first[0] : first;
  if (given instanceof Object) return given as Target;
  if (typeof given === 'string' && Number.isNaN(Number(given))) return { path: given };
  return { port: Number(given), ...(typeof second === 'string' && { host: second }) };
}

function isHere(host: string): boolean {
  return host === '127.0.0.1' || host === 'localhost';
}

const { WATCHED_PORTS: ports, WATCHED_FILE: file } = process.env;
if (ports !== undefined && file !== undefined) {
  watchConnections(ports.split(',').map(Number), (what) => appendFileSync(file, `${what}\n`));
}
