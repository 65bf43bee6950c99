/**
 * A parser must not use the network. If the system supports it, it has none: see `sandbox.ts`. This
 * is the second line of defence: every network API of Node throws, with a clear message.
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

export function denyNetwork(): void {
  const places: readonly [place: object, names: readonly string[]][] = [
    [net.Socket.prototype, ['connect']],
    [net.Server.prototype, ['listen']],
    [dgram.Socket.prototype, ['bind', 'connect', 'send']],
    [dns, functionsOf(dns)],
    [dns.promises, functionsOf(dns.promises)],
    [dns.Resolver.prototype, functionsOf(dns.Resolver.prototype)],
    [dns.promises.Resolver.prototype, functionsOf(dns.promises.Resolver.prototype)],
  ];
  for (const [place, names] of places) {
    for (const name of names) Object.defineProperty(place, name, { value: refuse });
  }
  // Its errors would hide ours behind `fetch failed`.
  Object.defineProperty(globalThis, 'fetch', { value: async () => refuse() });
}

function refuse(): never {
  throw Object.assign(new Error('a parser may not use the network'), { code: 'ERR_ACCESS_DENIED' });
}

function functionsOf(place: object): string[] {
  return Object.getOwnPropertyNames(place).filter((name) =>
    /^(?:lookup|lookupService|resolve\w*|reverse)$/.test(name),
  );
}
