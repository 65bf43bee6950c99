import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type AddressClass,
  allowedHosts,
  classifyAddress,
  classifyName,
  isAllowed,
  literalOf,
} from './address.ts';

/** Addresses that must never be reached by default, each with the reason. */
const refused: readonly [address: string, class_: AddressClass, why: string][] = [
  ['0.0.0.0', 'private', 'this host'],
  ['0.1.2.3', 'private', 'this network'],
  ['10.0.0.1', 'private', 'private'],
  ['10.255.255.255', 'private', 'private, the last one'],
  ['100.64.0.1', 'private', 'shared by carriers'],
  ['100.127.255.254', 'private', 'shared by carriers, the last one'],
  ['100.100.100.200', 'never', 'metadata of Alibaba'],
  ['127.0.0.1', 'private', 'loopback'],
  ['127.255.255.254', 'private', 'loopback, the last one'],
  ['168.63.129.16', 'never', 'wire server of Azure'],
  ['169.254.0.1', 'never', 'link-local'],
  ['169.254.169.254', 'never', 'metadata of most clouds'],
  ['169.254.170.2', 'never', 'credentials of containers'],
  ['172.16.0.1', 'private', 'private'],
  ['172.31.255.254', 'private', 'private, the last one'],
  ['192.0.0.1', 'private', 'protocol assignments'],
  ['192.0.0.192', 'never', 'metadata of Oracle'],
  ['192.0.2.1', 'private', 'documentation'],
  ['192.31.196.1', 'private', 'AS112'],
  ['192.52.193.1', 'private', 'AMT'],
  ['192.88.99.1', 'private', '6to4 relay'],
  ['192.168.1.1', 'private', 'private'],
  ['192.175.48.1', 'private', 'AS112'],
  ['198.18.0.1', 'private', 'benchmarks'],
  ['198.19.255.254', 'private', 'benchmarks, the last one'],
  ['198.51.100.1', 'private', 'documentation'],
  ['203.0.113.1', 'private', 'documentation'],
  ['224.0.0.1', 'private', 'multicast'],
  ['239.255.255.250', 'private', 'multicast'],
  ['240.0.0.1', 'private', 'reserved'],
  ['255.255.255.255', 'private', 'broadcast'],
  ['::', 'private', 'unspecified'],
  ['::1', 'private', 'loopback'],
  ['::ffff:127.0.0.1', 'private', 'IPv4-mapped loopback, dotted'],
  ['::ffff:7f00:1', 'private', 'IPv4-mapped loopback, hexadecimal'],
  ['::ffff:169.254.169.254', 'never', 'IPv4-mapped metadata'],
  ['::ffff:8.8.8.8', 'private', 'IPv4-mapped, even of a public address'],
  ['::7f00:1', 'private', 'IPv4-compatible loopback'],
  ['::ffff:0:127.0.0.1', 'private', 'IPv4-translated loopback'],
  ['64:ff9b::a9fe:a9fe', 'never', 'NAT64 of metadata'],
  ['64:ff9b::a00:1', 'private', 'NAT64 of a private address'],
  ['64:ff9b:1::a00:1', 'private', 'local NAT64'],
  ['100::1', 'private', 'discard'],
  ['2001::1', 'private', 'Teredo'],
  ['2001:0:7f00:1::', 'private', 'Teredo with a loopback server'],
  ['2001:10::1', 'private', 'ORCHID'],
  ['2001:20::1', 'private', 'ORCHID, second version'],
  ['2001:db8::1', 'private', 'documentation'],
  ['2002:7f00:1::', 'private', '6to4 of loopback'],
  ['2002:a9fe:a9fe::', 'never', '6to4 of metadata'],
  ['2620:4f:8000::1', 'private', 'AS112'],
  ['3fff::1', 'private', 'documentation'],
  ['fc00::1', 'private', 'unique local'],
  ['fd00:ec2::254', 'never', 'metadata of Amazon'],
  ['fe80::1', 'never', 'link-local'],
  ['fec0::1', 'private', 'site-local'],
  ['ff02::1', 'private', 'multicast'],
];

const controls = [
  ...['1.1.1.1', '8.8.8.8', '93.184.216.34', '9.255.255.255', '11.0.0.0', '100.63.255.255'],
  ...['100.128.0.0', '126.255.255.255', '128.0.0.1', '172.15.255.255', '172.32.0.0'],
  ...['192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
  ...['2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '2001:4860:4860::8888', '2600::'],
];

describe('an address', () => {
  test('has 57 rows below', () => assert.equal(refused.length, 57));
  for (const [address, expected, why] of refused) {
    test(`${address} is refused as ${expected}: ${why}`, () => {
      assert.equal(classifyAddress(address), expected);
    });
  }
  for (const address of controls) {
    test(`${address} is public`, () => assert.equal(classifyAddress(address), 'public'));
  }
  for (const text of ['fe80::1%eth0', '2606:4700::1%1', '', '1.2.3', 'example.com', '1.1.1.1 ']) {
    test(`${JSON.stringify(text)} is not taken for one`, () => {
      assert.equal(classifyAddress(text), 'never');
    });
  }
});

/** Spellings of hosts in URLs, and the address that the parser makes of them. */
const spellings: readonly [url: string, address: string][] = [
  ['http://2130706433/', '127.0.0.1'],
  ['http://0x7f000001/', '127.0.0.1'],
  ['http://017700000001/', '127.0.0.1'],
  ['http://0177.0.0.1/', '127.0.0.1'],
  ['http://0x7f.0.0.1/', '127.0.0.1'],
  ['http://127.1/', '127.0.0.1'],
  ['http://127.0.1/', '127.0.0.1'],
  ['http://0/', '0.0.0.0'],
  ['http://127.0.0.1./', '127.0.0.1'],
  ['http://①②⑦.⓪.⓪.①/', '127.0.0.1'],
  ['http://127。0。0。1/', '127.0.0.1'],
  ['http://%31%32%37.0.0.1/', '127.0.0.1'],
  ['http://１２７.0.0.1/', '127.0.0.1'],
  ['http://2852039166/', '169.254.169.254'],
  ['http://0xa9fea9fe/', '169.254.169.254'],
  ['http://0251.0376.0251.0376/', '169.254.169.254'],
  ['http://169.254.43518/', '169.254.169.254'],
  ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
  ['http://[0:0:0:0:0:ffff:7f00:0001]/', '::ffff:7f00:1'],
  ['http://[::127.0.0.1]/', '::7f00:1'],
  ['http://[::ffff:0:127.0.0.1]/', '::ffff:0:7f00:1'],
  ['http://[0000:0000:0000:0000:0000:0000:0000:0001]/', '::1'],
  ['http:127.0.0.1', '127.0.0.1'],
  ['http:///127.0.0.1/', '127.0.0.1'],
  ['http://\t127.0.0.1\n/', '127.0.0.1'],
  ['http:\\\\127.0.0.1\\', '127.0.0.1'],
];

describe('a spelling of a host', () => {
  for (const [url, address] of spellings) {
    test(`${JSON.stringify(url)} is ${address}, and refused`, () => {
      assert.equal(literalOf(new URL(url).hostname), address);
      assert.notEqual(classifyAddress(address), 'public');
    });
  }
});

describe('a name', () => {
  const names: readonly [name: string, expected: AddressClass][] = [
    ['localhost', 'private'],
    ['localhost.', 'private'],
    ['foo.localhost', 'private'],
    ['printer.local', 'private'],
    ['db.internal', 'private'],
    ['router.home.arpa', 'private'],
    ['intranet', 'private'],
    ['metadata.google.internal', 'never'],
    ['metadata', 'never'],
    ['instance-data.ec2.internal', 'never'],
    ['example.com', 'public'],
    ['notlocalhost.com', 'public'],
    ['local.example.com', 'public'],
    ['xn--exmple-4nf.com', 'public'],
  ];
  for (const [name, expected] of names) {
    test(`${name} is ${expected}`, () => assert.equal(classifyName(name), expected));
  }
});

describe('an exception', () => {
  const allowed = allowedHosts(['127.0.0.1:4010', 'LOCALHOST:80', '[::1]:8443', 'wiki.corp:443']);
  const rows: readonly [url: string, expected: boolean][] = [
    ['http://127.0.0.1:4010/a', true],
    ['http://127.1:4010/', true],
    ['http://127.0.0.1:4011/', false],
    ['http://127.0.0.2:4010/', false],
    ['http://localhost/', true],
    ['https://localhost/', false],
    ['https://[::1]:8443/', true],
    ['https://wiki.corp/', true],
    ['https://a.wiki.corp/', false],
  ];
  for (const [url, expected] of rows) {
    test(`${expected ? 'covers' : 'does not cover'} ${url}`, () => {
      assert.equal(isAllowed(new URL(url), allowed), expected);
    });
  }
  for (const entry of ['127.0.0.1', 'host:', ':80', 'a b:80', 'host:port']) {
    test(`cannot be ${JSON.stringify(entry)}`, () => assert.throws(() => allowedHosts([entry])));
  }
});
