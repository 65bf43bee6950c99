/** Hostile input: each is small enough to be accepted, and made to take long. */
import { gzipSync } from 'node:zlib';
import { limits } from '../../src/kernel/limits/limits.ts';

const megabyte = 1_000_000;
const full = limits.request.bodyBytesMax;
const filled = (unit: string, length: number): string =>
  unit.repeat(Math.ceil(length / unit.length));
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

const corpus = '"corpus_name":"hostile"';
const documents = (entry: string, count: number): string =>
  `{${corpus},"documents":[${`${entry},`.repeat(count - 1)}${entry}]}`;

const around = (list: string): string => `{${corpus},"documents":${list}}`;
const crawling = (glob: string): string =>
  `{${corpus},"crawl":{"url":"http://a.example","include":["${glob}"]}}`;

/** Bodies for `POST /jobs`, most of which are refused. */
export const bodies: Readonly<Record<string, string>> = {
  'one document too many': documents('{"text":"x"}', 100_001),
  'half a million empty documents': documents('{}', 500_000),
  'millions of empty documents': documents('{}', 2_800_000),
  'as many empty documents as fit': documents('{}', Math.floor((full - 60) / 3)),
  'a million numbers for addresses': `{${corpus},"urls":[${'1,'.repeat(999_999)}1]}`,
  'as many wrong documents as may be': documents('{"txt":"x"}', 100_000),
  'a wrong document after right ones': documents('{"text":"x"}', 99_999).replace(/]}$/, ',{}]}'),
  'deep lists': '['.repeat(full),
  'deep objects': filled('{"a":', full - 5),
  'deep lists that are closed': around('['.repeat(9_000_000) + ']'.repeat(9_000_000)),
  'nothing but spaces': ' '.repeat(full),
  'nothing but quotes': '"'.repeat(full),
  'nothing but commas': ','.repeat(full),
  'millions of fields': `{${filled('"a":1,', full - 20)}"a":1}`,
  'a field with a very long name': `{${corpus},"${'x'.repeat(full - 100)}":1}`,
  'a text for a list': `{${corpus},"documents":"${'x'.repeat(full - 100)}"}`,
  'one document that is too long': documents(`{"text":"${'x'.repeat(full - 100)}"}`, 1),
  'one document of escapes': documents(`{"text":"${filled('\\u0041', full - 100)}"}`, 1),
  'one document of quotes': documents(`{"text":"${filled('\\"', full - 100)}"}`, 1),
  'a glob of stars': crawling(`/${'*a'.repeat(400)}`),
};

/** Files for `POST /jobs/upload`. Parsers and chunkers decide their outcome. */
export const files: Readonly<Record<string, string | Buffer>> = {
  'indented.md': lines(60, () => `${' '.repeat(4200)}- item`),
  'nested.md': lines(1500, (n) => `${'  '.repeat(n)}- item`),
  'quoted.md': lines(1000, (n) => `${'>'.repeat(n)} item`),
  'arrows.html': filled('>', megabyte),
  'tags.html': filled('<a ', megabyte),
  'opened.html': filled('<', megabyte),
  'comments.html': filled('<!--', megabyte),
  'deep.html': filled('<div>', megabyte),
  'bodies.html': filled('<body ', megabyte),
  'attributes.html': `<p ${filled('a=b ', megabyte)}>`,
  'titles.html': `<title>${filled(' | ', megabyte)}</title><p>x</p>`,
  'spaces.txt': `a${' '.repeat(2 * megabyte)}b`,
  'newlines.txt': `a${'\n'.repeat(2 * megabyte)}b`,
  'line.txt': filled('word ', 2 * megabyte),
  'letters.txt': 'a'.repeat(megabyte),
  'marks.txt': `a${'\u0301'.repeat(megabyte / 2)}`,
  'directions.txt': filled('\u202e\u05d0', megabyte),
  'invisible.txt': `a${'\u200b'.repeat(megabyte)}`,
  'address.txt': `http://${'a'.repeat(megabyte)}`,
  'mails.txt': filled('a@', megabyte),
  'names.txt': filled('Aa Bb of the ', megabyte),
  'latin.txt': Buffer.alloc(4 * megabyte, '\xe9t\xe9 ', 'latin1'),
  'headings.md': filled('# a\n', megabyte / 2),
  'heading.md': `# a${' '.repeat(megabyte)}b`,
  'fences.md': filled('```\n', megabyte),
  'ticks.md': '`'.repeat(megabyte),
  'brackets.md': filled('[a](', megabyte),
  'table.md': `|a|b|\n|---|---|\n${filled('|x|y|\n', megabyte)}`,
  'front.md': `---\n${filled('a: b\n', megabyte)}`,
  'cells.csv': filled('a,', megabyte),
  'quotes.csv': filled('"a', megabyte),
  'deep.json': filled('[', megabyte),
  'values.json': `[${filled('1,', megabyte)}1]`,
  'attributes.xml': `<a ${filled('b ', megabyte)}/>`,
  'spaces.ts': `a${' '.repeat(megabyte)}b`,
};

const page = (body: string): string => `<title>Page</title><p>Some words here.</p>${body}`;
const indexOf = (places: readonly string[], length: number): string =>
  `<sitemapindex>${filled(places.map((place) => `<sitemap><loc>${place}</loc>`).join(''), length)}`;
const linkTo = (path: string): string => `<a href="${path}">x</a>`;

/** A site for each of these is crawled with these globs: paths and their responses. */
export interface HostileSite {
  readonly pages: Readonly<Record<string, string | Buffer>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly include?: readonly string[];
}

export const sites: Readonly<Record<string, HostileSite>> = {
  'a path that almost fits a glob': {
    pages: { '/': page(linkTo(`/${'a'.repeat(200)}c`)) },
    include: ['/*a*a*a*a*a*a*a*a*b'],
  },
  'very many links and long globs': {
    pages: { '/': page(filled(linkTo(`/${'a/'.repeat(400)}c`), 2 * megabyte)) },
    include: Array.from({ length: 50 }, () => `**${'a/*'.repeat(31)}${'b'.repeat(900)}`),
  },
  'a robots.txt of spaces': {
    pages: { '/robots.txt': ' '.repeat(limits.fetch.robotsBytesMax), '/': page('') },
  },
  'a robots.txt of rules': {
    pages: {
      '/robots.txt': `user-agent: *\n${filled('disallow: /*ab$\n', limits.fetch.robotsBytesMax)}`,
      '/': page(linkTo(`/${'a'.repeat(2000)}`)),
    },
  },
  'a robots.txt of sitemaps': {
    pages: {
      '/robots.txt': filled('sitemap: /nothing.xml\n', limits.fetch.robotsBytesMax),
      '/': page(''),
    },
  },
  'a sitemap of spaces': {
    pages: { '/sitemap.xml': `<loc>${' '.repeat(8 * megabyte)}`, '/': page('') },
  },
  'a sitemap of openings': {
    pages: { '/sitemap.xml': filled('<loc> ', 8 * megabyte), '/': page('') },
  },
  'a sitemap of lines': {
    pages: { '/sitemap.xml': filled('http://a.example/b \n', 8 * megabyte), '/': page('') },
  },
  'an index of sitemaps that name each other': {
    pages: {
      '/': page(''),
      '/sitemap.xml': indexOf(['/sitemap.xml', '/a.xml', '/b.xml?'], 4 * megabyte),
      '/a.xml': indexOf(['/b.xml', '/sitemap.xml'], 4 * megabyte),
      '/b.xml': indexOf(['/a.xml'], 4 * megabyte),
    },
  },
  'a sitemap of many places': {
    pages: {
      '/': page(''),
      '/sitemap.xml': `<urlset>${lines(200_000, (n) => `<url><loc>/p${n}&amp;</loc></url>`)}`,
    },
    include: ['/nothing/*'],
  },
  'a deep sitemap with long names of tags': {
    pages: {
      '/': page(''),
      '/sitemap.xml': filled(`<${'a'.repeat(64)}:loc><${'b'.repeat(65)}:loc>`, 8 * megabyte),
    },
  },
  'a sitemap of entities': {
    pages: {
      '/': page(''),
      '/sitemap.xml': `<!DOCTYPE a [<!ENTITY b "&b;&b;">]>${filled('<loc>&b;&amp;', 8 * megabyte)}`,
    },
  },
  'a sitemap in a bomb': {
    pages: { '/sitemap.xml': gzipSync(Buffer.alloc(200 * megabyte, ' ')), '/': page('') },
  },
  'a page of tags': { pages: { '/': filled('<a href=b ', 4 * megabyte) } },
  'a page of bases': { pages: { '/': filled('<base href="/a/">', 4 * megabyte) } },
  'a page in another encoding': {
    pages: { '/': Buffer.concat([Buffer.from(page('')), Buffer.alloc(8 * megabyte, 0x81)]) },
    headers: { 'content-type': 'text/html; charset=gb18030' },
  },
  'a feed': {
    pages: {
      '/': `<rss><channel>${filled('<item><title>a</title></item>', megabyte)}`,
    },
    headers: { 'content-type': 'application/rss+xml' },
  },
  'headers without end': {
    pages: { '/': page('') },
    headers: { 'x-a': 'a; '.repeat(4000), 'content-type': `text/html;${' '.repeat(8000)}x` },
  },
  'a redirect to itself': { pages: { '/': '' }, headers: { location: '/' } },
};

/** Read-only requests. */
export const readings: readonly { readonly path: string; readonly body?: object }[] = [
  { path: `/jobs?cursor=${'9'.repeat(64)}` },
  { path: `/jobs/${'%2e'.repeat(4000)}` },
  { path: `/${'a/'.repeat(7000)}` },
  { path: `/documents?corpus_name=${'a'.repeat(8000)}` },
  { path: `/jobs?${'a=b&'.repeat(3000)}` },
  ...[
    'a'.repeat(4000),
    'a '.repeat(2000),
    '"'.repeat(4000),
    '*'.repeat(4000),
    '(a '.repeat(1300),
  ].map((query) => ({
    path: '/search',
    body: { corpus_name: 'ordinary', query: query.slice(0, 2000) },
  })),
  {
    path: '/search',
    body: { corpus_name: 'ordinary', query: 'heron', filters: { title: '%_'.repeat(200) } },
  },
  {
    path: '/search',
    body: { corpus_name: 'ordinary', query: 'heron', filters: { heading: 'a'.repeat(400) } },
  },
];

const hundred = (part: (n: number) => object): object => ({
  $or: Array.from({ length: 100 }, (_, n) => part(n)),
});
const many = (value: (n: number) => number): number[] =>
  Array.from({ length: 200 }, (_, n) => value(n));
const long = 'x'.repeat(10 * megabyte);

/** Conditions for documents with a `year` and one of a thousand other keys. */
export const conditions: readonly (string | object)[] = [
  { year: { [`$${long}`]: 1 } },
  { [`$${long}`]: 1 },
  { [long]: 1 },
  { year: long },
  { $and: Array.from({ length: 15_000 }, () => ({ year: 1 })) },
  { year: { $in: many(() => 2025) } },
  hundred(() => ({ year: { $in: many(() => 2025) } })),
  hundred((n) => ({ year: { $in: many((each) => n * 200 + each) } })),
  hundred((n) => ({ year: { $lt: 3000 + n } })),
  { $and: Array.from({ length: 100 }, (_, n) => ({ year: { $lt: 3000 + n } })) },
  { ['z'.repeat(64)]: 1 },
  `year = 1${' or year = 2'.repeat(90)}`,
  `${'not '.repeat(990)}year = 1`,
  '('.repeat(4000),
  `year in (${'1,'.repeat(1900)}1)`,
  `year = "${'\\"'.repeat(1300)}`,
];
