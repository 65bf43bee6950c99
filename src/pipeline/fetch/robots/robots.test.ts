import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertCpuMs, turnsDuring } from '../../../../test/support/measure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { decide, matches, parseRobots } from './robots.ts';

/** A file, in lines; a robot; what it may read, and what it may not. */
interface Case {
  readonly name: string;
  readonly file: string;
  readonly robot?: string;
  readonly may?: readonly string[];
  readonly mayNot?: readonly string[];
}

/**
 * The cases are those of Google's own parser tests, in our words. If the expected result is
 * specific to Google and not in the RFC, the case states our behaviour.
 */
const cases: readonly Case[] = [
  { name: 'an empty file allows everything', file: '', may: ['/', '/x'] },
  { name: 'a rule for us', file: 'user-agent: FooBot\ndisallow: /', mayNot: ['/', '/x/y'] },
  { name: 'unknown fields are no rules', file: 'foo: FooBot\nbar: /', may: ['/x/y'] },
  { name: 'a missing colon is forgiven', file: 'user-agent FooBot\ndisallow /', mayNot: ['/x'] },
  {
    name: 'rules before any group are ignored; groups for one robot are one',
    file: [
      ...['allow: /foo/bar/', '', 'user-agent: FooBot', 'disallow: /', 'allow: /x/'],
      ...['user-agent: BarBot', 'disallow: /', 'allow: /y/', '', '', 'allow: /w/'],
      ...['user-agent: BazBot', '', 'user-agent: FooBot', 'allow: /z/', 'disallow: /'],
    ].join('\n'),
    may: ['/x/b', '/z/d'],
    mayNot: ['/y/c', '/foo/bar/'],
  },
  {
    name: 'an empty line does not end a group',
    file: 'user-agent: BarBot\ndisallow: /\nallow: /y/\n\n\nallow: /w/\nuser-agent: BazBot',
    robot: 'BarBot',
    may: ['/y/c', '/w/a'],
    mayNot: ['/z/d'],
  },
  {
    name: 'names that follow each other share their rules, over empty lines too',
    file: 'user-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /',
    robot: 'BazBot',
    may: ['/z/d'],
    mayNot: ['/foo/bar/'],
  },
  {
    name: 'a sitemap does not end a group',
    file: 'User-agent: BarBot\nSitemap: https://a.example/map\nUser-agent: *\nDisallow: /',
    robot: 'BarBot',
    mayNot: ['/'],
  },
  {
    name: 'an unknown line does not end a group',
    file: 'User-agent: FooBot\nInvalid-Unknown-Line: unknown\nUser-agent: *\nDisallow: /',
    mayNot: ['/'],
  },
  ...[
    'USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /',
    'uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /',
  ].map((file) => ({ name: 'the case of a field', file, may: ['/x/y'], mayNot: ['/a/b'] })),
  ...['FOO BAR', 'foo bar', 'FoO bAr', 'foo/2.1', 'Foo*'].map((agent) => ({
    name: `the name ends where ${agent} ends to be one, and its case does not matter`,
    file: `User-Agent: ${agent}\nAllow: /x/\nDisallow: /`,
    robot: 'Foo',
    may: ['/x/y'],
    mayNot: ['/a/b'],
  })),
  {
    name: 'a name is not a prefix of another',
    file: 'User-agent: FooBotNews\nDisallow: /',
    may: ['/x'],
  },
  {
    name: 'a group of our own beats the one for everyone, wherever it stands',
    file: 'user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /',
    mayNot: ['/x/y'],
  },
  {
    name: 'everyone else gets the group for everyone',
    file: 'user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /',
    robot: 'BarBot',
    may: ['/x/y'],
  },
  {
    name: 'no group is for us',
    file: 'user-agent: FooBot\nallow: /\nuser-agent: BarBot\ndisallow: /',
    robot: 'QuxBot',
    may: ['/x/y'],
  },
  {
    name: 'a group of our own takes nothing from the one for everyone',
    file: 'User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/',
    may: ['/x/page'],
    mayNot: ['/y/page'],
  },
  { name: 'a path has a case', file: 'user-agent: FooBot\ndisallow: /X/', may: ['/x/y'] },
  {
    name: 'the longer rule forbids',
    file: 'user-agent: FooBot\ndisallow: /x/page.html\nallow: /x/',
    mayNot: ['/x/page.html'],
  },
  {
    name: 'the longer rule allows',
    file: 'user-agent: FooBot\nallow: /x/page.html\ndisallow: /x/',
    may: ['/x/page.html'],
    mayNot: ['/x/'],
  },
  { name: 'rules without a path', file: 'user-agent: FooBot\ndisallow:\nallow:', may: ['/x'] },
  { name: 'of equals, Allow', file: 'user-agent: FooBot\ndisallow: /\nallow: /', may: ['/x'] },
  {
    name: 'a slash more is a longer rule',
    file: 'user-agent: FooBot\ndisallow: /x\nallow: /x/',
    may: ['/x/'],
    mayNot: ['/x'],
  },
  {
    name: 'of equals with a page, Allow',
    file: 'user-agent: FooBot\ndisallow: /x/page.html\nallow: /x/page.html',
    may: ['/x/page.html'],
  },
  {
    name: 'the length counts as written, star included',
    file: 'user-agent: FooBot\nallow: /page\ndisallow: /*.html',
    may: ['/page'],
    mayNot: ['/page.html'],
  },
  {
    name: 'the length counts as written, star included, the other way round',
    file: 'user-agent: FooBot\nallow: /x/page.\ndisallow: /*.html',
    may: ['/x/page.html'],
    mayNot: ['/x/y.html'],
  },
  {
    name: 'a query is compared as it stands',
    file: 'User-agent: FooBot\nDisallow: /\nAllow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par',
    may: ['/foo/bar?qux=taz&baz=http://foo.bar?tar&par'],
  },
  {
    name: 'letters beyond ASCII are compared encoded',
    file: 'User-agent: FooBot\nDisallow: /\nAllow: /foo/bar/ツ',
    may: ['/foo/bar/%E3%83%84', '/foo/bar/ツ', '/foo/bar/%e3%83%84'],
  },
  {
    name: 'encoded letters are compared encoded',
    file: 'User-agent: FooBot\nDisallow: /\nAllow: /foo/bar/%E3%83%84',
    may: ['/foo/bar/%E3%83%84', '/foo/bar/ツ'],
  },
  {
    name: 'what needs no encoding is compared without (Google: only as written)',
    file: 'User-agent: FooBot\nDisallow: /\nAllow: /foo/bar/%62%61%7A',
    may: ['/foo/bar/baz', '/foo/bar/%62%61%7A'],
  },
  {
    name: 'a star in the middle',
    file: 'User-agent: FooBot\nDisallow: /foo/bar/quz\nAllow: /foo/*/qux',
    may: ['/foo/quz', '/foo//quz', '/foo/bax/quz'],
    mayNot: ['/foo/bar/quz'],
  },
  {
    name: 'a dollar at the end',
    file: 'User-agent: FooBot\nDisallow: /foo/bar$\nAllow: /foo/bar/qux',
    may: ['/foo/bar/qux', '/foo/bar/', '/foo/bar/baz'],
    mayNot: ['/foo/bar'],
  },
  {
    name: 'comments',
    file: 'User-agent: FooBot\n# Disallow: /\nDisallow: /foo/quz#qux\nAllow: /',
    may: ['/foo/bar'],
    mayNot: ['/foo/quz'],
  },
  {
    name: 'index.html is a page like any other (Google: also its folder)',
    file: 'User-Agent: *\nAllow: /slash/index.html\nDisallow: /',
    may: ['/slash/index.html'],
    mayNot: ['/slash/index.htm', '/slash/', '/any'],
  },
  ...['/fish', '/fish*'].map((pattern) => ({
    name: `${pattern} is a prefix`,
    file: `user-agent: FooBot\ndisallow: /\nallow: ${pattern}`,
    may: [
      ...['/fish', '/fish.html', '/fish/salmon.html', '/fishheads', '/fishheads/yummy.html'],
      '/fish.html?id=anything',
    ],
    mayNot: ['/bar', '/Fish.asp', '/catfish', '/?id=fish'],
  })),
  {
    name: '/fish/ is a folder',
    file: 'user-agent: FooBot\ndisallow: /\nallow: /fish/',
    may: ['/fish/', '/fish/salmon', '/fish/?salmon', '/fish/salmon.html', '/fish/?id=anything'],
    mayNot: ['/bar', '/fish', '/fish.html', '/Fish/Salmon.html'],
  },
  {
    name: '/*.php is anywhere',
    file: 'user-agent: FooBot\ndisallow: /\nallow: /*.php',
    may: [
      ...['/filename.php', '/folder/filename.php', '/folder/filename.php?parameters'],
      ...['//folder/any.php.file.html', '/filename.php/', '/index?f=filename.php/'],
    ],
    mayNot: ['/bar', '/php/', '/index?php', '/windows.PHP'],
  },
  {
    name: '/*.php$ is at the end',
    file: 'user-agent: FooBot\ndisallow: /\nallow: /*.php$',
    may: ['/filename.php', '/folder/filename.php'],
    mayNot: [
      ...['/bar', '/filename.php?parameters', '/filename.php/', '/filename.php5', '/php/'],
      ...['/filename?php', '/aaaphpaaa', '//windows.PHP'],
    ],
  },
  {
    name: '/fish*.php has both',
    file: 'user-agent: FooBot\ndisallow: /\nallow: /fish*.php',
    may: ['/fish.php', '/fishheads/catfish.php?parameters'],
    mayNot: ['/bar', '/Fish.PHP'],
  },
  {
    name: 'order does not matter',
    file: 'user-agent: FooBot\nallow: /p\ndisallow: /',
    may: ['/page'],
  },
  {
    name: 'a folder both ways is allowed',
    file: 'user-agent: FooBot\nallow: /folder\ndisallow: /folder',
    may: ['/folder/page'],
  },
  {
    name: 'the longer pattern forbids',
    file: 'user-agent: FooBot\nallow: /page\ndisallow: /*.htm',
    mayNot: ['/page.htm'],
  },
  {
    name: 'only the root',
    file: 'user-agent: FooBot\nallow: /$\ndisallow: /',
    may: ['/'],
    mayNot: ['/page.html', '/?a'],
  },
  ...['\n', '\r\n', '\r'].map((end) => ({
    name: `lines that end with ${JSON.stringify(end)}`,
    file: ['User-Agent: foo', 'Allow: /some/path', 'User-Agent: bar', '', '', 'Disallow: /'].join(
      end,
    ),
    robot: 'bar',
    mayNot: ['/some/path'],
  })),
  { name: 'a byte order mark', file: '\uFEFFUser-Agent: FooBot\nDisallow: /', mayNot: ['/x'] },
  { name: 'spaces around', file: '  User-Agent :  FooBot \n\tDisallow\t: /x ', mayNot: ['/x/y'] },
  { name: 'a misspelling', file: 'useragent: FooBot\ndissallow: /', mayNot: ['/x'] },
  {
    name: 'a crawl delay ends no rule',
    file: 'user-agent: *\ncrawl-delay: 5\ndisallow: /x',
    mayNot: ['/x'],
  },
  { name: 'robots.txt itself', file: 'user-agent: *\ndisallow: /', may: ['/robots.txt'] },
  { name: 'a web page in its place', file: '<!DOCTYPE html><p>Disallow: /</p>', may: ['/x'] },
  {
    name: 'a dollar inside is a dollar',
    file: 'user-agent: *\ndisallow: /a$b',
    may: ['/a'],
    mayNot: ['/a$b'],
  },
];

describe('robots.txt', () => {
  let questions = 0;
  for (const { name, file, robot = 'FooBot', may = [], mayNot = [] } of cases) {
    questions += may.length + mayNot.length;
    test(name, async () => {
      const robots = parseRobots(file, robot);
      const ask = async (path: string) => {
        const url = new URL(path.replace(/^\/\//, '/.//'), 'http://a.example');
        return (await decide(robots, url)).isAllowed;
      };
      for (const path of may) assert.equal(await ask(path), true, `${path} is allowed`);
      for (const path of mayNot) assert.equal(await ask(path), false, `${path} is not allowed`);
    });
  }
  test('is checked with more than 120 paths', () => assert.ok(questions > 120, String(questions)));

  test('says which rule decided', async () => {
    const robots = parseRobots('user-agent: *\ndisallow: /x\nallow: /x/y', 'FooBot');
    assert.deepEqual(await decide(robots, new URL('http://a.example/x/z')), {
      isAllowed: false,
      rule: 'Disallow: /x',
    });
    assert.equal((await decide(robots, new URL('http://a.example/x/y'))).rule, 'Allow: /x/y');
    assert.equal((await decide(robots, new URL('http://a.example/'))).rule, undefined);
  });

  const delays: readonly [value: string, ms: number | undefined][] = [
    ['5', 5000],
    ['0.5', 500],
    ['0', 0],
    ['-1', undefined],
    ['soon', undefined],
    ['', undefined],
    ['86400', limits.fetch.crawlDelayMsMax],
  ];
  for (const [value, ms] of delays) {
    test(`sets a crawl delay of ${JSON.stringify(value)} seconds`, () => {
      assert.equal(parseRobots(`user-agent: *\ncrawl-delay: ${value}`, 'a').crawlDelayMs, ms);
    });
  }

  test('names sitemaps anywhere', () => {
    const file = 'Sitemap: https://a.example/1\nuser-agent: *\nsitemap: https://a.example/2';
    const { sitemaps } = parseRobots(file, 'FooBot');
    assert.deepEqual(sitemaps, ['https://a.example/1', 'https://a.example/2']);
  });

  test('is read up to its size limit', () => {
    const filler = '# filler\n'.repeat(limits.fetch.robotsBytesMax / 9 + 1);
    const robots = parseRobots(`user-agent: *\n${filler}disallow: /`, 'FooBot');
    assert.equal(robots.rules.length, 0);
  });

  test('of hostile lines is read quickly', () => {
    const most = limits.fetch.robotsBytesMax;
    const hostile = [' ', '\t', 'a ', '\u00a0', ': ', 'x', '*', 'Disallow '];
    for (const unit of hostile) {
      for (const line of [unit.repeat(most / unit.length), `Allow${unit.repeat(most / 8)}`]) {
        const file = `user-agent: *\n${line}`;
        assertCpuMs(500, () => void parseRobots(file, 'FooBot'), JSON.stringify(unit));
      }
    }
  });

  test('with very many rules yields to the event loop', async (t) => {
    const rules = 'disallow: /*ab$\n'.repeat(limits.fetch.robotsBytesMax / 16);
    const robots = parseRobots(`user-agent: *\n${rules}`, 'FooBot');
    assert.ok(robots.rules.length > 30_000);
    // A millisecond per rule, on any machine.
    let timeMs = 0;
    t.mock.method(performance, 'now', () => (timeMs += 1));
    const turns = await turnsDuring(() => decide(robots, new URL('http://a.example/a')));
    assert.ok(turns > 30_000 / (limits.loop.sliceMs + 2), `${turns} turns`);
  });

  test('with many stars is fast', () => {
    const path = `/${'a'.repeat(8000)}`;
    assert.equal(matches(`/${'*a'.repeat(2000)}*b$`, path), false);
    assert.equal(matches(`/${'*a'.repeat(2000)}$`, path), true);
  });
});
