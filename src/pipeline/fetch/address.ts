/**
 * Decides which addresses may be connected to. This is an allowlist: only public unicast. An IPv6
 * address must be in the globally allocated space; every form that embeds an IPv4 address (mapped,
 * compatible, translated, NAT64, 6to4, Teredo) is outside of it or in a range below, so no notation
 * of a private address passes.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

type Range = readonly [network: string, prefix: number];

/** IPv4 ranges that are not public: private, shared, reserved, test, multicast. */
const refusedIpv4: readonly Range[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** The only IPv6 space that is allocated to the public. */
const grantedIpv6: readonly Range[] = [['2000::', 3]];

/** Exceptions inside it: protocols (including Teredo), documentation, 6to4, test anycast. */
const refusedIpv6: readonly Range[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

/** Cloud metadata services, which hand out credentials. No setting allows these. */
const neverAllowedIpv4: readonly Range[] = [
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['192.0.0.192', 32],
];
const neverAllowedIpv6: readonly Range[] = [
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['fe80::', 10],
];

const listOf = (ranges: readonly Range[], family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
};

const lists = {
  refusedIpv4: listOf(refusedIpv4, 'ipv4'),
  grantedIpv6: listOf(grantedIpv6, 'ipv6'),
  refusedIpv6: listOf(refusedIpv6, 'ipv6'),
  neverIpv4: listOf(neverAllowedIpv4, 'ipv4'),
  neverIpv6: listOf(neverAllowedIpv6, 'ipv6'),
};

/**
 * `public`: may be connected to. `private`: only if its exact host and port was allowed. `never`:
 * link-local and metadata addresses, regardless of settings.
 */
export type AddressClass = 'public' | 'private' | 'never';

/** For an address in plain form, as resolvers and the URL parser return it. */
export function classifyAddress(address: string): AddressClass {
  // A zone (`fe80::1%eth0`) names an interface of this machine: never public.
  if (address.includes('%')) return 'never';
  if (isIPv4(address)) {
    if (lists.neverIpv4.check(address, 'ipv4')) return 'never';
    return lists.refusedIpv4.check(address, 'ipv4') ? 'private' : 'public';
  }
  if (!isIPv6(address)) return 'never';
  const embedded = embeddedIpv4(address);
  if (embedded !== undefined && lists.neverIpv4.check(embedded, 'ipv4')) return 'never';
  if (lists.neverIpv6.check(address, 'ipv6')) return 'never';
  const isGranted = lists.grantedIpv6.check(address, 'ipv6');
  return isGranted && !lists.refusedIpv6.check(address, 'ipv6') ? 'public' : 'private';
}

/** Notations of an IPv4 address within an IPv6 one, by the position of its 32 bits. */
const embeddings: readonly { readonly range: Range; readonly firstGroup: number }[] = [
  { range: ['::', 96], firstGroup: 6 },
  { range: ['::ffff:0:0', 96], firstGroup: 6 },
  { range: ['::ffff:0:0:0', 96], firstGroup: 6 },
  { range: ['64:ff9b::', 96], firstGroup: 6 },
  { range: ['64:ff9b:1::', 48], firstGroup: 6 },
  { range: ['2002::', 16], firstGroup: 1 },
];

const embeddingLists = embeddings.map(({ range, firstGroup }) => ({
  list: listOf([range], 'ipv6'),
  firstGroup,
}));

/** None of these is ever public; this only decides whether an exception may allow them. */
function embeddedIpv4(address: string): string | undefined {
  const found = embeddingLists.find(({ list }) => list.check(address, 'ipv6'));
  if (!found) return undefined;
  const groups = groupsOf(address).slice(found.firstGroup, found.firstGroup + 2);
  return groups.flatMap((group) => [group >> 8, group & 0xff]).join('.');
}

/** The eight groups of an IPv6 address in any notation. */
function groupsOf(address: string): number[] {
  // The URL parser normalizes every notation: hexadecimal groups, the longest gap as `::`.
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [read(head), read(tail ?? '')];
  const gap = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: gap }, () => 0), ...after];
}

/** Names of this machine or network, regardless of what a resolver returns. */
const privateName = /(?:^|\.)(?:localhost|local|internal|home\.arpa|lan|intranet)$/;

/** Names of cloud metadata services. */
const metadataName = /^(?:metadata|instance-data)(?:\.|$)|^metadata\.google\.internal$/;

/** For a host as the URL parser returns it: a name, an IPv4 address, or an IPv6 one in brackets. */
export function classifyName(hostname: string): AddressClass {
  const name = hostname.replace(/\.$/, '');
  if (metadataName.test(name)) return 'never';
  return privateName.test(name) || !name.includes('.') ? 'private' : 'public';
}

/** The address, if the host is an address and not a name. */
export function literalOf(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIPv4(bare) || isIPv6(bare) ? bare : undefined;
}

/** Exact `host:port` pairs that may be reached although they are not public. */
export type AllowedHosts = ReadonlySet<string>;

/** Throws if an entry is not `host:port`: a wrong setting fails at the start. */
export function allowedHosts(entries: readonly string[]): AllowedHosts {
  return new Set(
    entries.map((entry) => {
      const [, host, port] = /^(.+):(\d{1,5})$/.exec(entry.trim()) ?? [];
      if (host === undefined || !URL.canParse(`http://${host}/`)) {
        throw new Error(`${entry} is not a host and a port`);
      }
      return `${new URL(`http://${host}/`).hostname}:${Number(port)}`;
    }),
  );
}

export function isAllowed(url: URL, allowed: AllowedHosts): boolean {
  return allowed.has(`${url.hostname}:${portOf(url)}`);
}

export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}
