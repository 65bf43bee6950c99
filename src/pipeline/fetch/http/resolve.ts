/**
 * From a URL to the addresses that may be connected to. A name is refused if any of its addresses
 * is: a public name never points into a private network by accident. A mix of both is an attempt to
 * make the connection use another address than the check.
 *
 * The returned addresses are the ones connected to. The name is never looked up a second time.
 */
import { lookup } from 'node:dns/promises';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import {
  type AddressClass,
  type AllowedHosts,
  classifyAddress,
  classifyName,
  isAllowed,
  literalOf,
  portOf,
} from '../address.ts';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** The system resolver, including the hosts file: what a person on this machine would get. */
export const systemResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/** A URL with its checked addresses, in the order to try them. */
export interface Target {
  readonly url: URL;
  readonly port: number;
  readonly addresses: readonly string[];
}

/** Checks a URL before any lookup: throws unless it may be public. */
export function checkTarget(url: URL, allowed: AllowedHosts): void {
  const port = portOf(url);
  const isException = isAllowed(url, allowed);
  if (!isException && !limits.fetch.portsAllowed.some((known) => known === port)) {
    throw new Failure('private_address', `${url.host}: port ${port} is not one of the web's`);
  }
  const literal = literalOf(url.hostname);
  const class_ = literal === undefined ? classifyName(url.hostname) : classifyAddress(literal);
  refuse(url, [class_], isException);
}

export async function resolveTarget(
  url: URL,
  { resolve, allowed }: { readonly resolve: Resolve; readonly allowed: AllowedHosts },
): Promise<Target> {
  checkTarget(url, allowed);
  const literal = literalOf(url.hostname);
  const addresses = literal === undefined ? await resolve(url.hostname) : [literal];
  if (addresses.length === 0) {
    throw new Failure('network_error', `${url.hostname} has no address`);
  }
  refuse(url, addresses.map(classifyAddress), isAllowed(url, allowed));
  return { url, port: portOf(url), addresses: ipv4First(addresses) };
}

/** The message does not contain the resolved address: that would reveal the network. */
function refuse(url: URL, classes: readonly AddressClass[], isException: boolean): void {
  const isRefused = classes.some(
    (found) => found === 'never' || (found === 'private' && !isException),
  );
  if (isRefused) throw new Failure('private_address', `${url.host} is not a public address`);
}

/** On a machine without IPv6 connectivity, trying IPv6 first would cost a connection timeout. */
function ipv4First(addresses: readonly string[]): string[] {
  const isIpv6 = (address: string): number => (address.includes(':') ? 1 : 0);
  return [...new Set(addresses)].toSorted((one, other) => isIpv6(one) - isIpv6(other));
}
