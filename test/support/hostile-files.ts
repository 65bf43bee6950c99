/** A second set of hostile files: structures that repeat, nest, refer to themselves or lie. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import { writeZip, type ZipPart } from '../../src/pipeline/extract/format/zip/zip-writer.ts';
import { writePdf } from './pdf-writer.ts';

const size = 400_000;
const filled = (unit: string, length = size): string =>
  unit.repeat(Math.ceil(length / unit.length));
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const around = (opening: string, closing: string, depth: number, inner = 'word'): string =>
  `${opening.repeat(depth)}${inner}${closing.repeat(depth)}`;

const markdown: Readonly<Record<string, string>> = {
  'stars.md': filled('*a **b ***c '),
  'underscores.md': filled('_a __b '),
  'open-brackets.md': filled('['),
  'images.md': filled('![a]('),
  'references.md': `${filled('[a][b]', size / 2)}\n${filled('[b]: c\n', size / 2)}`,
  'definitions.md': lines(20_000, (n) => `[r${n}]: <`),
  'notes.md': lines(10_000, (n) => `[^${n}]: [^${n + 1}]`),
  'quotes-in-lists.md': lines(400, (n) => `${'> - '.repeat(n)}a`),
  'lists-in-quotes.md': lines(400, (n) => `${'1. > '.repeat(n)}a`),
  'wide-table.md': ['|a', '|-', '|b'].map((unit) => filled(unit, 200_000)).join('|\n'),
  'ragged-table.md': `|a|\n|-|\n${lines(900, (n) => filled('|b', n + 1))}`,
  'setext.md': filled('a\n=\n'),
  'rules.md': filled('---\n'),
  'escapes.md': filled('\\'),
  'entities.md': filled('&amp;&#65;&#x10ffff;'),
  'autolinks.md': filled('<http://a'),
  'html-in-text.md': filled('a <b c="'),
  'comments-open.md': filled('<!-- '),
  'details.md': filled('<details><summary>a</summary>\n\n'),
  'shortcodes.md': filled('{{< a '),
  'shortcodes-closed.md': filled('{{% a %}}'),
  'directives.md': filled('::: a\n'),
  'tabs.mdx': filled('<Tab a={"', size / 2),
  'imports.mdx': filled('import a from "b"\n'),
  'open-fence.md': `\`\`\`\n${filled('a\n')}`,
  'front-keys.md': `---\ntitle: A\na: [${filled('? ', 60_000)}\n---\nword`,
  'front-anchors.md': `---\na: &a [x]\n${filled('b: *a\n', 60_000)}---\nword`,
  'carriage-returns.md': filled('# a\r'),
  'separators.md': filled('word\u2028\u2029'),
};

const text: Readonly<Record<string, string | Buffer>> = {
  'zalgo.txt': filled(`a${'\u0301\u0316'.repeat(500)} `),
  'zero-width.txt': filled('w\u200dw\ufeff'),
  'thai.txt': filled('\u0e01\u0e32\u0e23'),
  'han.txt': filled('\u6c49\u5b57'),
  'hangul.txt': filled('\ud55c\uae00'),
  'emoji.txt': filled('\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'),
  'ligatures.txt': filled('\ufdfa'),
  'dots.txt': filled('.'),
  'abbreviations.txt': filled('e.g. Dr. a.b. '),
  'dates.txt': filled('1/1/1 '),
  'numbers.txt': filled('1,234.5 '),
  'mail-addresses.txt': filled('a.b@c.d-'),
  'capitals.txt': filled('Aa Bb '),
  'initials.txt': filled('A. B. '),
  'quotes.txt': filled('"\'\u201c\u2018'),
  'utf-16.txt': Buffer.from(`\ufeff${filled('w ', size / 2)}`, 'utf16le'),
  'escapes.txt': Buffer.from(filled('\x1b$B!!\x1b(B')),
  'bytes.txt': Buffer.from(Array.from({ length: size }, (_, n) => (n * 7919) & 255)),
  'a.log': filled('2026-01-01T00:00:00Z ERROR at a.b.c(d:1) '),
  'b.rst': filled('=\na\n=\n.. a::\n'),
  'c.adoc': filled('|===\n'),
  'd.tex': filled('\\begin{a}{'),
  'e.org': filled('* a\n:b:\n'),
  'line.py': `a = ${around('(', ')', 100_000, '1')}`,
  'long.min.js': filled('a=>{b(c)};'),
};

const pages: Readonly<Record<string, string>> = {
  'formats.html': filled('<b><i><u><a>'),
  'misnested.html': filled('<b><p></b><i></p>'),
  'tables.html': around('<table><tr><td>', '', 3000),
  'spans.html': `<table><tr>${filled('<td colspan=1000 rowspan=65534>a', 50_000)}`,
  'columns.html': `<table><tr>${filled('<td>a')}`,
  'selects.html': filled('<select><option>a'),
  'frames.html': filled('<iframe srcdoc="<iframe srcdoc='),
  'math.html': filled('<math><mtext><p>'),
  'templates.html': filled('<template>'),
  'named-entities.html': filled('&CounterClockwiseContourIntegral'),
  'scripts.html': filled('<script></scr'),
  'styles.html': filled('<style>a{'),
  'data.html': `<img src="data:image/png;base64,${filled('A')}">word`,
  'metas.html': `${filled('<meta name=a content="b c">')}word`,
  'ld.html': `<script type="application/ld+json">${filled('{"@graph":[')}</script>word`,
  'utf-7.html': `<meta charset=utf-7>${filled('+ADw-script+AD4-')}`,
  'pre.html': `<pre>${filled('  a\n')}</pre>`,
  'rubies.html': filled('<ruby>a<rt>b'),
  'definitions.html': filled('<dl><dt>a<dd>', 20_000),
  'anchors.html': filled('<a name=b>[1]</a> '),
};

const entities = (count: number): string =>
  lines(count, (n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`);
const laughter = `<!DOCTYPE a [<!ENTITY e0 "ha">${entities(9)}]>`;

const structures: Readonly<Record<string, string>> = {
  'laughs.xml': `${laughter}<a>&e9;</a>`,
  'long-entity.xml': `<!DOCTYPE a [<!ENTITY b "${filled('x')}">]><a>${'&b;'.repeat(20_000)}</a>`,
  'outside.xml': '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  'parameters.xml': `<!DOCTYPE a [<!ENTITY % b '<!ENTITY c "%b;">'>${filled('%b;')}]><a/>`,
  'deep.xml': around('<a>', '</a>', 50_000),
  'wide.xml': `<a>${lines(40_000, (n) => `<b${n}/>`)}</a>`,
  'many-attributes.xml': `<a ${lines(30_000, (n) => `b${n}="c"`)}/>`,
  'namespaces.xml': around('<a xmlns:b="c">', '</a>', 250),
  'instructions.xml': `<a>${filled('<?b c?>')}</a>`,
  'sections.xml': `<a>${filled('<![CDATA[b]]>')}</a>`,
  'drawing.svg': `<svg>${filled('<text>a</text><use href="#b"/>')}</svg>`,
  'feed.rss': `<rss><channel>${filled('<item><description>&lt;b&gt;')}</channel></rss>`,
  'nested.json': around('[', ']', 100_000, '1'),
  'objects.json': around('{"a":', '}', 50_000, '1'),
  'keys.json': `{${lines(30_000, (n) => `"k${n}":1,`)}"z":1}`,
  'prototype.json': '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"word":"word"}',
  'numbers.json': `[${filled('1e400,')}1]`,
  'escaped.json': `["${filled('\\u0000\\ud800')}"]`,
  'rows.ndjson': filled('{"a":1}\n'),
  'broken.ndjson': filled('{"a":\n'),
  'table.csv': lines(2, () => filled('a,', 2_000_000)),
  'rows.csv': filled('a\n', 3_000_000),
  'open-quote.csv': `a,b\n"${filled('c,d\n')}`,
  'doubled-quotes.csv': filled('""'),
  'delimiters.csv': filled('a;b,c\td|e\n'),
  'tabs.tsv': filled('\t'),
  'cues.vtt': `WEBVTT\n\n${filled('00:00.000 --> 00:01.000\n<v a><c><i>word\n\n')}`,
  'cues.srt': filled('1\n00:00:00,000 --> 99:99:99,999\n<font a="'),
  'braces.rtf': `{\\rtf1 ${filled('{')}`,
  'binary.rtf': '{\\rtf1 \\bin2147483647 word}',
  'picture.rtf': `{\\rtf1 {\\pict ${filled('ff')}} word}`,
  'unicode.rtf': `{\\rtf1 ${filled('\\uc9999\\u-1?')}}`,
  'cells.rtf': `{\\rtf1 ${filled('\\trowd\\cellx1 a\\cell')}}`,
};

const forwarded = (depth: number): string =>
  depth === 0
    ? 'Subject: end\n\nword'
    : `Subject: s\nContent-Type: message/rfc822\n\n${forwarded(depth - 1)}`;
const parted = (depth: number): string =>
  lines(depth, (n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}`);
const partedBy = (part: string): string =>
  `Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n${part}`;

const mails: Readonly<Record<string, string>> = {
  'forwarded.eml': forwarded(300),
  'parted.eml': parted(500),
  'parts.eml': partedBy(filled('--b\nContent-Type: text/plain\n\na\n')),
  'same-boundary.eml': partedBy(filled('--b\nContent-Type: multipart/mixed; boundary=b\n\n')),
  'words.eml': `Subject: ${filled('=?utf-8?q?a?= ')}\n\nword`,
  'recipients.eml': `To: ${filled('"a, b" <c@d>, ')}\nSubject: a\n\nword`,
  'groups.eml': `To: ${filled('a:b,')}\nSubject: a\n\nword`,
  'headers.eml': `${filled('X-A: b\n')}\nword`,
  'folded.eml': `Subject: ${filled('a\n ')}\n\nword`,
  'continued.eml': partedBy(
    `--b\nContent-Disposition: attachment; ${lines(5000, (n) => ` filename*${n}*=a;`)}\n\nword`,
  ),
  'soft-breaks.eml': `Content-Transfer-Encoding: quoted-printable\n\n${filled('=\n=3D')}`,
  'base64.eml': `Content-Transfer-Encoding: base64\n\n${filled('====')}`,
  'names.eml': partedBy(
    `--b\nContent-Disposition: attachment; filename="\u202etxt.${'../'.repeat(80)}exe"\n\nword`,
  ),
  'attachments.eml': partedBy(
    lines(1500, (n) => `--b\nContent-Disposition: attachment; filename=${n}.txt\n\nword ${n}`),
  ),
};

const word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const office = 'urn:oasis:names:tc:opendocument:xmlns:office:1.0';
const table = 'urn:oasis:names:tc:opendocument:xmlns:table:1.0';
const prose = 'urn:oasis:names:tc:opendocument:xmlns:text:1.0';

function docx(body: string): Buffer {
  const types = 'http://schemas.openxmlformats.org/package/2006/content-types';
  const relations = 'http://schemas.openxmlformats.org/package/2006/relationships';
  const main = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';
  const content =
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
  return writeZip(
    [
      [
        '[Content_Types].xml',
        `<Types xmlns="${types}">` +
          `<Override PartName="/word/document.xml" ContentType="${content}"/></Types>`,
      ],
      [
        '_rels/.rels',
        `<Relationships xmlns="${relations}">` +
          `<Relationship Id="a" Type="${main}" Target="word/document.xml"/></Relationships>`,
      ],
      ['word/document.xml', `<w:document ${word}><w:body>${body}</w:body></w:document>`],
    ],
    'deflated',
  );
}

function openDocument(kind: 'text' | 'spreadsheet', body: string): Buffer {
  const names = `xmlns:office="${office}" xmlns:table="${table}" xmlns:text="${prose}"`;
  return writeZip(
    [
      ['mimetype', `application/vnd.oasis.opendocument.${kind}`],
      [
        'content.xml',
        `<office:document-content ${names}><office:body><office:${kind}>${body}` +
          `</office:${kind}></office:body></office:document-content>`,
      ],
    ],
    'deflated',
  );
}

const run = '<w:r><w:t>word</w:t></w:r>';
const repeats = 'number-columns-repeated="1000000000"';
const cell = `<table:table-cell table:${repeats}><text:p>a</text:p></table:table-cell>`;
const row = `<table:table-row table:number-rows-repeated="1000000000">${cell}</table:table-row>`;
const entries = (count: number): ZipPart[] =>
  Array.from({ length: count }, (_, n): ZipPart => [`word/${n}.xml`, '<a/>']);

const archives: Readonly<Record<string, () => Buffer>> = {
  'tables.docx': () =>
    docx(around('<w:tbl><w:tr><w:tc>', '</w:tc></w:tr></w:tbl>', 2000, `<w:p>${run}</w:p>`)),
  'runs.docx': () => docx(`<w:p>${filled(run, 4_000_000)}</w:p>`),
  'paragraphs.docx': () => docx(filled(`<w:p>${run}</w:p>`, 8_000_000)),
  'spaces.docx': () => docx(`<w:p><w:r><w:t>${' '.repeat(20_000_000)}</w:t></w:r></w:p>`),
  'grid.docx': () =>
    docx(
      '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2147483647"/></w:tcPr>' +
        `<w:p>${run}</w:p></w:tc></w:tr></w:tbl>`,
    ),
  'entries.docx': () => writeZip(entries(9000), 'stored'),
  'self.docx': () => docx('<w:altChunk r:id="a"/>'),
  'repeated.ods': () => openDocument('spreadsheet', `<table:table>${row}</table:table>`),
  'spaces.odt': () => openDocument('text', `<text:p>a<text:s text:c="2147483647"/>b</text:p>`),
  'sections.odt': () =>
    openDocument(
      'text',
      around('<text:section>', '</text:section>', 5000, '<text:p>word</text:p>'),
    ),
  'lists.odt': () =>
    openDocument(
      'text',
      around(
        '<text:list><text:list-item>',
        '</text:list-item></text:list>',
        3000,
        '<text:p>word</text:p>',
      ),
    ),
  'packed.txt.gz': () => gzipSync(Buffer.alloc(100_000_000)),
};

const stream = (length: number): Buffer => deflateSync(Buffer.alloc(length, ' '));

const documents: Readonly<Record<string, () => Buffer>> = {
  'operators.pdf': () => writePdf([filled('q ', size)]),
  'texts.pdf': () => writePdf([`BT /F1 9 Tf ${filled('(a) Tj ', size)} ET`]),
  'words.pdf': () =>
    writePdf([`BT /F1 1 Tf ${lines(20_000, (n) => `1 0 0 1 ${n % 600} ${n % 800} Tm (w) Tj`)} ET`]),
  'rules.pdf': () => writePdf([`${lines(20_000, (n) => `${n % 600} ${n % 800} 9 1 re f`)}`]),
  'pages.pdf': () => writePdf(Array(1500).fill('BT /F1 24 Tf 72 700 Td (word) Tj ET')),
  'counted.pdf': () => writePdf(['BT /F1 9 Tf (word) Tj ET'], { count: 2_000_000_000 }),
  'inflated.pdf': () =>
    writePdf([stream(50_000_000).toString('latin1')], { filters: '/FlateDecode' }),
  'filters.pdf': () =>
    writePdf(['word'], { filters: Array(2000).fill('/ASCIIHexDecode').join(' ') }),
  'arrays.pdf': () => writePdf(['word'], { objects: [around('[', ']', 50_000, '1')] }),
  'forms.pdf': () => writePdf(['/X Do'], { resources: '/XObject << /X 4 0 R >>' }),
  'endless.pdf': () => Buffer.from(`%PDF-1.7\n${filled('1 0 obj\n<<')}`),
  'tables-of-offsets.pdf': () =>
    Buffer.from(`%PDF-1.7\nxref\n0 99999999\n${filled('0000000000 65535 f \n')}`),
};

const sampleFolder = join(import.meta.dirname, '../samples/format');
/** The first bytes of an ordinary file, and then nothing, or the same again and again. */
const cut = (name: string, keep: number): Buffer => {
  const bytes = readFileSync(join(sampleFolder, name));
  return bytes.subarray(0, Math.floor(bytes.length * keep));
};
const looped = (name: string): Buffer => {
  const bytes = cut(name, 0.7);
  return Buffer.concat(Array(Math.ceil(2_000_000 / bytes.length)).fill(bytes));
};

/** Made when they are needed: together they have some 50 MB. */
export const secondFiles: Readonly<Record<string, () => string | Buffer>> = {
  ...made(markdown),
  ...made(text),
  ...made(pages),
  ...made(structures),
  ...made(mails),
  ...archives,
  ...documents,
  'cut.pdf': () => cut('report.pdf', 0.6),
  'looped.pdf': () => looped('report.pdf'),
  'cut.docx': () => cut('report.docx', 0.9),
  'looped.docx': () => looped('report.docx'),
};

function made<T>(files: Readonly<Record<string, T>>): Record<string, () => T> {
  return Object.fromEntries(Object.entries(files).map(([name, content]) => [name, () => content]));
}
