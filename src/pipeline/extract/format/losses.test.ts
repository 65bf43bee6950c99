import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { textPage, writePdf } from '../../../../test/support/pdf-writer.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { ocrFolderVariable } from './image/ocr-model.ts';
import { parse } from './parse.ts';
import { unreadPages } from './pdf/unread.ts';
import { openZip } from './zip/zip.ts';
import { writeZip } from './zip/zip-writer.ts';

const never = new AbortController().signal;
const samples = join(import.meta.dirname, '../../../../test/samples/format');
const pptx = 'application/vnd.openxmlformats-officedocument.presentationml.presentation';
const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const ole = 'application/x-ole-storage';

/** The reported losses of a document. */
async function lossOf(bytes: Buffer, mediaType: string) {
  const input = { bytes, mediaType, source: 'document', withDropped: true };
  const { meta, dropped } = await parse(input, never);
  return { share: meta.kept_share, warnings: meta.warnings, dropped };
}

/** A page with a line and without text. */
const drawing = '20 w 100 100 m 400 500 l S';

describe('a document that is partly read reports it', () => {
  test('a PDF with a page on which no text is recognized', async () => {
    const pages = [textPage('The ferry leaves'), drawing, null, textPage('at noon')];
    assert.deepEqual(await lossOf(writePdf(pages), 'application/pdf'), {
      share: 0.75,
      warnings: ['1 of 4 pages was not read: no text was recognized there.'],
      dropped: [{ reason: 'no_text_recognized', text: 'page 2' }],
    });
  });

  test('a PDF with a page on which text recognition fails, if it has others', async (t) => {
    const folder = process.env[ocrFolderVariable];
    t.after(() => {
      if (folder === undefined) delete process.env[ocrFolderVariable];
      else process.env[ocrFolderVariable] = folder;
    });
    const damaged = temporaryDirectory(t);
    writeFileSync(join(damaged, 'eng.traineddata'), 'not a model');
    process.env[ocrFolderVariable] = damaged;
    const both = writePdf([textPage('The ferry leaves'), drawing]);
    assert.deepEqual(await lossOf(both, 'application/pdf'), {
      share: 0.5,
      warnings: ['1 of 2 pages was not read: text recognition failed there.'],
      dropped: [{ reason: 'recognition_failed', text: 'page 2' }],
    });
    const code = 'parse_error_strict';
    await assert.rejects(lossOf(writePdf([drawing]), 'application/pdf'), { code });
  });

  test('a PDF with damaged pages, and with more scans than are recognized', () => {
    const scans = Array.from({ length: limits.parse.ocrPagesMax + 20 }, (_, index) => ({
      pageNum: index + 1,
    }));
    const recognized = new Map(
      scans.slice(0, limits.parse.ocrPagesMax).map(({ pageNum }) => [pageNum, 'words']),
    );
    const found = unreadPages(scans, { recognized, failed: new Map(), broken: 2, total: 500 });
    assert.deepEqual([found.read, found.whole], [478, 500]);
    assert.deepEqual(
      found.losses.map(({ warning }) => warning),
      [
        '20 of 500 pages were not read: only the first 100 scanned pages are recognized.',
        '2 of 500 pages were not read: damaged.',
      ],
    );
    assert.equal(found.losses[0]?.texts[0], 'page 101');
  });

  test('lines that are not JSON', async () => {
    const bytes = Buffer.from('{"a":"A heron."}\n{"a":\n{"a":"A stork."}\nnone\n');
    assert.deepEqual(await lossOf(bytes, 'application/x-ndjson'), {
      share: 0.5,
      warnings: ['2 of 4 lines were not read: not valid JSON.'],
      dropped: [
        { reason: 'invalid_line', text: '{"a":' },
        { reason: 'invalid_line', text: 'none' },
      ],
    });
  });

  test('a message with more attachments than are read', async () => {
    const part = (head: string, body: string) => `--b\r\n${head}\r\n\r\n${body}\r\n`;
    const file = part('Content-Type: text/csv\r\nContent-Disposition: attachment', 'a,b');
    const mail = (files: number) =>
      Buffer.from(
        'Subject: Tides\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n' +
          `${part('Content-Type: text/plain', 'High at noon.')}${file.repeat(files)}--b--\r\n`,
      );
    const { filesMax } = limits.attachment;
    const none = { share: undefined, warnings: undefined, dropped: undefined };
    assert.deepEqual(await lossOf(mail(filesMax), 'message/rfc822'), none);
    assert.deepEqual(await lossOf(mail(filesMax + 1), 'message/rfc822'), {
      share: 0.99,
      warnings: ['1 of 101 attachments was not read: save and submit them apart.'],
      dropped: [{ reason: 'attachment', text: '1 more' }],
    });
  });

  test('a truncated old presentation and a truncated old message', async () => {
    const cut = async (name: string) => {
      const bytes = readFileSync(join(samples, name));
      const whole = await lossOf(bytes, ole);
      assert.equal(whole.warnings, undefined);
      return lossOf(bytes.subarray(0, -512), ole);
    };
    assert.deepEqual(await cut('old-talk.ppt'), {
      share: 0.784,
      warnings: ['106 of 490 bytes were not read: the file was cut off.'],
      dropped: undefined,
    });
    assert.deepEqual(await cut('berth.msg'), {
      share: 0.691,
      warnings: ['135 of 437 bytes were not read: the file was cut off.'],
      dropped: undefined,
    });
  });

  test('an old document with a truncated directory is damaged, not unknown', async () => {
    const bytes = readFileSync(join(samples, 'old-report.doc')).subarray(0, -512);
    await assert.rejects(lossOf(bytes, ole), { code: 'parse_error_strict' });
  });

  test('a book that lacks a chapter', async () => {
    const zip = openZip(readFileSync(join(samples, 'book.epub')));
    const chapters = zip.names.filter((name) => /\.x?html$/.test(name));
    const kept = zip.names.filter((name) => name !== chapters.at(-1));
    const parts = kept.map((name) => [name, zip.read(name) ?? ''] as const);
    const { share, warnings } = await lossOf(writeZip(parts, 'stored'), 'application/epub+zip');
    assert.ok(typeof share === 'number' && share < 1, String(share));
    assert.match(String(warnings), /^1 of \d chapters was not read: the book lacks them\.$/);
  });

  test('a presentation that lacks a slide', async () => {
    const zip = openZip(readFileSync(join(samples, 'talk.pptx')));
    const parts = zip.names.map((name) => {
      const content = Buffer.from(zip.read(name) ?? '').toString();
      return [name, content.replace('Id="rId1" ', 'Id="rId9" ')] as const;
    });
    assert.deepEqual(await lossOf(writeZip(parts, 'stored'), pptx), {
      share: 0.5,
      warnings: ['1 of 2 slides was not read: missing.'],
      dropped: [{ reason: 'missing', text: 'slide 2' }],
    });
  });

  test('a web page of which only an article was kept, or only the plain text', async () => {
    const words = 'The ferry crossed the river at noon, and nobody on board was in a hurry.';
    const caption = `<figure><figcaption>Foto: ${words}</figcaption></figure>`;
    const article = `<html><head><meta property="og:type" content="article">
      <meta property="article:published_time" content="2024-05-06"></head><body>
      ${'<script></script>'.repeat(20)}
      <div class="post-content">${`<p>${words}</p>`.repeat(12)}</div>
      <div><div><div>${caption.repeat(12)}</div></div></div></body></html>`;
    const part = await lossOf(Buffer.from(article), 'text/html');
    const percent = Math.floor(100 * Number(part.share));
    assert.ok(percent < 80, String(percent));
    const warning = `Only ${percent} % of the words outside navigation were kept as content.`;
    assert.deepEqual(part.warnings, [warning]);
    const deep = Buffer.from(`${'<div>'.repeat(600)}${words}`);
    const { share, warnings } = await lossOf(deep, 'text/html');
    const plain = 'The page is too large or nested too deep: only its plain text was read.';
    assert.deepEqual([share, warnings], [1, [plain]]);
  });

  test('an old Word document whose text is truncated', async () => {
    const bytes = readFileSync(join(samples, 'old-report.doc'));
    const pieces = Buffer.from('021000000000000000', 'hex');
    bytes.writeUInt32LE(2000, bytes.indexOf(pieces) + pieces.length);
    const { share, warnings } = await lossOf(bytes, 'application/x-ole-storage');
    assert.ok(typeof share === 'number' && share < 0.9, String(share));
    assert.match(String(warnings), /^\d+ of 2000 characters were not read: cut off\.$/);
  });

  test('a Word document that is too long for its notes to be read', async () => {
    const paragraph = `<w:p><w:r><w:t>${'The ferry leaves at noon. '.repeat(20)}</w:t></w:r></w:p>`;
    const body = paragraph.repeat(Math.ceil(limits.parse.docxTreeBytesMax / paragraph.length));
    const xml = (name: string, inner: string) =>
      `<w:${name} xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">` +
      `${inner}</w:${name}>`;
    const note = '<w:footnote><w:p><w:r><w:t>Except on Sundays.</w:t></w:r></w:p></w:footnote>';
    const bytes = writeZip(
      [
        ['word/document.xml', xml('document', `<w:body>${body}</w:body>`)],
        ['word/footnotes.xml', xml('footnotes', note)],
      ],
      'deflated',
    );
    assert.deepEqual(await lossOf(bytes, docx), {
      share: 1,
      warnings: ['Notes and comments (1) were not read: the document is too long.'],
      dropped: [{ reason: 'note', text: 'Except on Sundays.' }],
    });
  });
});

test('an old presentation with too many records is refused, not truncated', async () => {
  const records = Buffer.alloc(8 * 1_000_001);
  const bytes = oleFile('PowerPoint Document', records);
  const input = { bytes, mediaType: 'application/x-ole-storage', source: 'talk.ppt' };
  await assert.rejects(parse(input, never), { code: 'parse_limit_exceeded' });
});

/** An old Office file with one stream: header, allocation tables, directory, then the stream. */
function oleFile(name: string, stream: Buffer): Buffer {
  const sectorBytes = 4096;
  const sectors = Math.ceil(stream.length / sectorBytes);
  const tables = Math.ceil((sectors + 8) / (sectorBytes / 4));
  const header = Buffer.alloc(sectorBytes, 0xff);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.writeUInt16LE(12, 30);
  header.writeUInt32LE(tables, 48);
  header.writeUInt32LE(0, 56);
  const table = Buffer.alloc(tables * sectorBytes, 0xff);
  for (let at = 0; at < tables; at += 1) header.writeUInt32LE(at, 76 + 4 * at);
  for (let at = 1; at < sectors; at += 1) table.writeUInt32LE(tables + at + 1, 4 * (tables + at));
  const directory = Buffer.alloc(sectorBytes);
  const entry = (
    at: number,
    { title, kind, child }: { title: string; kind: number; child: number },
  ) => {
    directory.write(title, 128 * at, 'utf16le');
    directory.writeUInt16LE(2 * title.length + 2, 128 * at + 64);
    directory.writeUInt8(kind, 128 * at + 66);
    directory.fill(0xff, 128 * at + 68, 128 * at + 76);
    directory.writeUInt32LE(child, 128 * at + 76);
    directory.writeUInt32LE(tables + 1, 128 * at + 116);
  };
  entry(0, { title: 'Root Entry', kind: 5, child: 1 });
  entry(1, { title: name, kind: 2, child: 0xffffffff });
  directory.writeUInt32LE(stream.length, 128 + 120);
  const padding = Buffer.alloc(sectors * sectorBytes - stream.length);
  return Buffer.concat([header, table, directory, stream, padding]);
}
