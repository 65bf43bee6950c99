/**
 * Malicious files, each with its expected code. Those that only limits of time and memory stop are
 * tested with parser processes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import {
  checkOutcomes as check,
  type OutcomeRow as Row,
  replaced,
} from '../../../../test/support/parse-outcome.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { writeOle } from './office/ole-writer.ts';
import { openZip } from './zip/zip.ts';
import { writeZip, type ZipPart } from './zip/zip-writer.ts';

const samples = join(import.meta.dirname, '../../../../test/samples/format');
const docx = readFileSync(join(samples, 'report.docx'));

/** The sample with replaced, added or removed parts. */
function docxWith(changes: Readonly<Record<string, string | Uint8Array>>, more: ZipPart[] = []) {
  const zip = openZip(docx);
  const kept = zip.names.map((name): ZipPart => [name, changes[name] ?? zip.read(name) ?? '']);
  return writeZip([...kept, ...more], 'deflated');
}

const word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const wordDocument = (body: string, head = '') =>
  `<?xml version="1.0"?>${head}<w:document ${word}><w:body>${body}</w:body></w:document>`;
const paragraph = (words: string) => `<w:p><w:r><w:t>${words}</w:t></w:r></w:p>`;
const withDocument = (xml: string | Uint8Array) => docxWith({ 'word/document.xml': xml });

const bomb = `${wordDocument(paragraph('a')).slice(0, -27)}${' '.repeat(130 * 1024 * 1024)}`;
const laughs = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>`;
const nested = `${'<w:sdt><w:sdtContent>'.repeat(20_000)}${paragraph('a')}`;

describe('an archive', () => {
  check([
    [
      'with a part that inflates a thousandfold',
      'a.docx',
      () => withDocument(bomb),
      'parse_limit_exceeded(inflated)',
    ],
    [
      'with a part that is larger than it says',
      'a.docx',
      () => lying(docxWith({}), 'word/document.xml'),
      'parse_limit_exceeded(inflated)',
    ],
    ['whose entries overlap', 'a.docx', overlapping, 'parse_limit_exceeded(overlap)'],
    [
      'of too many entries',
      'a.docx',
      () =>
        docxWith(
          {},
          Array.from({ length: 20_000 }, (_, index) => [`x${index}`, '']),
        ),
      'parse_limit_exceeded(entries)',
    ],
    ...['../../evil', '..\\..\\evil', '/etc/passwd', 'a\0b', 'C:/x', 'x'.repeat(60_000)].map(
      (name): Row => [
        `with an entry named ${JSON.stringify(name).slice(0, 20)}`,
        'a.docx',
        () => docxWith({}, [[name, 'evil']]),
        'parse_error_strict',
      ],
    ),
    ['with a link', 'a.docx', () => linked(docxWith({})), 'parse_error_strict'],
    [
      'with two documents of one name',
      'a.docx',
      () => docxWith({}, [['word/document.xml', wordDocument(paragraph('other'))]]),
      'parse_error_strict',
    ],
    [
      'whose directory contradicts its entries',
      'a.docx',
      () => replaced(docxWith({}), 'word/document.xml', 'word/document.xmm'),
      'parse_error_strict',
    ],
    ['behind a password', 'a.docx', () => locked(docxWith({})), 'encrypted_document'],
    ['that is cut off', 'a.docx', () => docx.subarray(0, 3000), 'parse_error_strict'],
    [
      'of archives',
      'a.zip',
      () => writeZip([['b.zip', writeZip([['c.txt', 'c']], 'stored')]], 'stored'),
      'unsupported_mime',
    ],
  ]);
});

describe('a Word document', () => {
  check([
    ['with entities', 'a.docx', () => withDocument(wordDocument('', laughs)), 'parse_error_strict'],
    [
      'with an outside entity',
      'a.docx',
      () =>
        withDocument(wordDocument('', '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>')),
      'parse_error_strict',
    ],
    [
      'of a million numbered characters',
      'a.docx',
      () => withDocument(wordDocument(paragraph('&#65;'.repeat(200_000)))),
      /^A{200000}$/,
    ],
    [
      'nested without end',
      'a.docx',
      () => withDocument(wordDocument(nested)),
      'parse_error_strict',
    ],
    [
      'of a million paragraphs',
      'a.docx',
      () => withDocument(Buffer.from(wordDocument(paragraph('a').repeat(400_000)))),
      /^parse_limit_exceeded\((?:elements|inflated)\)$/,
    ],
    [
      'that links to a picture outside',
      'a.docx',
      () => withDocument(wordDocument(`${linkedPicture}${paragraph('Only words')}`)),
      'Only words',
    ],
    [
      'with macros, which are not run',
      'a.docx',
      () => {
        const types = Buffer.from(openZip(docx).read('[Content_Types].xml') ?? []).toString();
        const macros = types.replace(
          /application\/vnd\.openxml[^"]*document\.main\+xml/,
          'application/vnd.ms-word.document.macroEnabled.main+xml',
        );
        return docxWith({ '[Content_Types].xml': macros });
      },
      /^# The harbour report/,
    ],
    ['behind a password', 'a.docx', () => oleFile('EncryptedPackage'), 'encrypted_document'],
    ['behind a password', 'a.docx', () => oleFile('ENCRYPTEDPACKAGE'), 'encrypted_document'],
    ['that is an old presentation behind a password', 'a.ppt', lockedTalk, 'encrypted_document'],
    [
      'that is an old workbook behind a password',
      'a.xls',
      () => workbookOf(0x600, 0x2f),
      'encrypted_document',
    ],
    ['that is a workbook from before 1997', 'a.xls', () => workbookOf(0x500), 'unsupported_mime'],
    ['from before 2007, and empty', 'a.doc', () => oleFile('WordDocument'), 'parse_error_strict'],
    ['of another old format', 'a.doc', () => oleFile('VisioDocument'), 'unsupported_mime'],
    ['without words', 'a.docx', () => withDocument(wordDocument('<w:p/>')), 'no_usable_content'],
    [
      'without its main part',
      'a.docx',
      () => replacedName(docxWith({}), 'word/document.xml', 'word/documenx.xml'),
      'parse_error_strict',
    ],
  ]);
});

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

const linkedPicture =
  '<w:p><w:r><w:drawing><a:blip xmlns:a="a" xmlns:r="r" r:link="rId99"/></w:drawing></w:r></w:p>';

const deep = (open: string, close: string, depth: number) =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;

describe('a workbook', () => {
  const cell = (place: string) => `<c r="${place}"><v>1</v></c>`;
  const rows = `<row r="1">${cell('A1')}</row><row r="1048576">${cell('XFD1048576')}</row>`;
  const sheet = `<worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`;
  const zip = openZip(readFileSync(join(samples, 'stock.xlsx')));
  const parts = zip.names.map((name): ZipPart => {
    return [name, name === 'xl/worksheets/sheet1.xml' ? sheet : (zip.read(name) ?? '')];
  });
  check([
    [
      'with two cells in far corners',
      'a.xlsx',
      () => writeZip(parts, 'deflated'),
      'parse_limit_exceeded(cells)',
    ],
  ]);
});

describe('text', () => {
  check([
    [
      'of a quote that never ends',
      'a.csv',
      () => Buffer.from(`a,b\n1,"${'x,y\n'.repeat(2_500_000)}`),
      'parse_limit_exceeded(record)',
    ],
    [
      'of a million columns',
      'a.csv',
      () => Buffer.from('x,'.repeat(1_000_000)),
      /^parse_limit_exceeded\((?:columns|record)\)$/,
    ],
    [
      'of very many quoted columns',
      'a.csv',
      () => Buffer.from('"",'.repeat(400_000)),
      'parse_limit_exceeded(columns)',
    ],
    [
      'of quoted columns before a very long one',
      'a.csv',
      () => Buffer.from(`${'"a",'.repeat(4000)}${'x'.repeat(4_000_000)}`),
      'parse_limit_exceeded(record)',
    ],
    [
      'with a cell of very many quotes and commas',
      'a.csv',
      () => Buffer.from(`a,b\n1,"${'""x"",'.repeat(5000)}"\n`),
      /\| 1 \| "x","x",/,
    ],
    [
      'with names that could reach a prototype',
      'a.csv',
      () => Buffer.from('__proto__,constructor\n1,2\n'),
      '| __proto__ | constructor |\n| --- | --- |\n| 1 | 2 |',
    ],
    ['with lone returns', 'a.csv', () => Buffer.from('a,b\r1,2\r'), /\| 1 \| 2 \|/],
    [
      'that is JSON without end',
      'a.json',
      () => Buffer.from(deep('[', ']', 200_000)),
      'parse_limit_exceeded(depth)',
    ],
    [
      'that is JSON with a prototype, twice, and large numbers',
      'a.json',
      () => Buffer.from('{"__proto__":{"admin":true},"n":1e999,"n":12345678901234567890}'),
      '- __proto__: admin: true\n- n: 1e999\n- n: 12345678901234567890',
    ],
    [
      'that is JSON with one very long line',
      'a.ndjson',
      () => Buffer.from(`{"a":"${'x'.repeat(limits.parse.lineCharactersMax)}"}`),
      'parse_limit_exceeded(line)',
    ],
    ['that is half a JSON', 'a.json', () => Buffer.from('{"a": ['), 'parse_error_strict'],
    ['of spaces', 'a.txt', () => Buffer.from(' \n\t '), 'no_usable_content'],
    ['of a mark alone', 'a.txt', () => Buffer.from('\ufeff'), 'no_usable_content'],
    ['of nothing', 'a.txt', () => Buffer.alloc(0), 'empty_source'],
    [
      'longer than any text',
      'a.txt',
      () => Buffer.alloc(limits.parse.textCharactersMax + 1, 'a'),
      'parse_limit_exceeded(text)',
    ],
    [
      'that is XML with entities',
      'a.xml',
      () => Buffer.from(`${laughs}<x>&b;</x>`),
      'parse_error_strict',
    ],
    [
      'that is XML without end',
      'a.xml',
      () => Buffer.from('<a>'.repeat(1000)),
      'parse_error_strict',
    ],
    ['that is RTF cut off', 'a.rtf', () => Buffer.from('{\\rtf1 words'), 'parse_error_strict'],
    [
      'that is a message cut off',
      'a.eml',
      () => Buffer.from('Subject: a\r\n'),
      'no_usable_content',
    ],
  ]);
});

describe('a picture', () => {
  const png = readFileSync(join(samples, 'notice.png'));
  check([
    [
      'of more pixels than the limit',
      'a.png',
      () => {
        const large = Buffer.from(png);
        large.writeUInt32BE(20_000, 16);
        large.writeUInt32BE(20_000, 20);
        return large;
      },
      'parse_limit_exceeded(pixels)',
    ],
    ['that is cut off', 'a.png', () => png.subarray(0, 20), 'parse_error_strict'],
    ['of a kind that is not read', 'a.gif', () => Buffer.from('GIF89a\0\0'), 'unsupported_mime'],
  ]);
});

/** The position of the entry in the directory. */
function directoryPlace(zip: Buffer, name: string): number {
  return zip.lastIndexOf(name) - 46;
}

/** Directory and entry state a smaller size than the real one. */
function lying(zip: Buffer, name: string): Buffer {
  zip.writeUInt32LE(10, directoryPlace(zip, name) + 24);
  return zip;
}

function linked(zip: Buffer): Buffer {
  zip.writeUInt32LE((0o120777 << 16) >>> 0, directoryPlace(zip, 'word/document.xml') + 38);
  return zip;
}

function locked(zip: Buffer): Buffer {
  zip.writeUInt16LE(1, directoryPlace(zip, 'word/document.xml') + 8);
  return zip;
}

/** In the directory and in the entry itself. */
function replacedName(zip: Buffer, from: string, to: string): Buffer {
  return Buffer.from(zip.toString('latin1').replaceAll(from, to), 'latin1');
}

/** The second entry claims a content inside the first. */
function overlapping(): Buffer {
  const inner = writeZip([['word/a', deflateRawSync(Buffer.alloc(1000))]], 'stored');
  const body = inner.subarray(0, inner.readUInt32LE(inner.length - 6));
  const zip = writeZip(
    [
      ['word/b', body],
      ['word/a', deflateRawSync(Buffer.alloc(1000))],
    ],
    'stored',
  );
  zip.writeUInt32LE(36, directoryPlace(zip, 'word/a') + 42);
  return zip;
}

/** Its stream `Current User` marks the presentation as encrypted. */
function lockedTalk(): Buffer {
  const talk = Buffer.from(readFileSync(join(samples, 'old-talk.ppt')));
  const startOf = (name: string): number =>
    talk.readUInt32LE(talk.indexOf(Buffer.from(name, 'utf16le')) + 116);
  const shortStreams = 512 * (startOf('Root Entry') + 1);
  talk.writeUInt32LE(0xf3d1c4df, shortStreams + 64 * startOf('Current User') + 12);
  return talk;
}

/** Its first record has the version; empty records may follow. */
function workbookOf(version: number, ...records: readonly number[]): Buffer {
  const words = [0x809, 4, version, 5, ...records.flatMap((type) => [type, 0])];
  const stream = Buffer.from(Uint16Array.from(words).buffer);
  return writeOle('Workbook', stream) ?? assert.fail('it is short');
}

/** An old Office file with one empty stream of that name: header, allocation table, directory. */
function oleFile(stream: string): Buffer {
  const [header, table, directory] = [
    Buffer.alloc(512),
    Buffer.alloc(512, 0xff),
    Buffer.alloc(512),
  ];
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.writeUInt16LE(9, 30);
  header.writeUInt32LE(1, 48);
  header.fill(0xff, 60, 512);
  header.writeUInt32LE(0, 76);
  const entry = (at: number, name: string, kind: number, child: number): void => {
    const start = 128 * at;
    directory.write(name, start, 'utf16le');
    directory.writeUInt16LE(2 * name.length + 2, start + 64);
    directory.writeUInt8(kind, start + 66);
    directory.fill(0xff, start + 68, start + 80);
    directory.writeUInt32LE(child, start + 76);
    directory.fill(0xff, start + 116, start + 120);
  };
  entry(0, 'Root Entry', 5, 1);
  entry(1, stream, 2, 0xffffffff);
  return Buffer.concat([header, table, directory]);
}
