/**
 * From a URL to the addresses that may be connected to. The whole name is refused if any of its
 * addresses is: a public name never points into a private network by accident, and whoever mixes
 * the two in one answer hopes that the connection takes the other one than the check did.
 *
 * What is returned here is what is connected to. Nothing looks the name up a second time.
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

/** The system's own resolver, with its hosts file: what a person on this machine would get. */
export const systemResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/** A URL with the addresses that were checked for it, in the order to try them in. */
export interface Target {
  readonly url: URL;
  readonly port: number;
  readonly addresses: readonly string[];
}

/** What an address says by itself, before any lookup: throws unless it may be public. */
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

/** The message does not say what the name resolved to: that would be a map of the network. */
function refuse(url: URL, classes: readonly AddressClass[], isException: boolean): void {
  const isRefused = classes.some(
    (found) => found === 'never' || (found === 'private' && !isException),
  );
  if (isRefused) throw new Failure('private_address', `${url.host} is not a public address`);
}

/** Where a machine has no way out by IPv6, trying it first would cost the time of a connection. */
function ipv4First(addresses: readonly string[]): string[] {
  const isIpv6 = (address: string): number => (address.includes(':') ? 1 : 0);
  return [...new Set(addresses)].toSorted((one, other) => isIpv6(one) - isIpv6(other));
}
