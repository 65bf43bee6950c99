import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { turnsDuring } from '../../../../test/support/measure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { readContent } from './content.ts';

/** Each turn is a slice of time; the whole takes hundreds of milliseconds. */
const turnsMin = 10;

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const office = 'application/vnd.openxmlformats-officedocument';

describe('content', () => {
  type Row = readonly [
    name: string,
    bytes: Buffer,
    header: string | undefined,
    type: string | undefined,
  ];
  const rows: readonly Row[] = [
    ['a page', latin1('<p>a'), 'text/html; charset=utf-8', 'text/html'],
    ['XHTML', latin1('<?xml version="1.0"?><html>'), 'application/xhtml+xml', 'text/html'],
    ['a page without a header', latin1('\n<!-- a --><!DOCTYPE html>'), undefined, 'text/html'],
    ['a page called a stream', latin1('<html>'), 'application/octet-stream', 'text/html'],
    ['a page called a PDF', latin1('<html>Not found'), 'application/pdf', 'text/html'],
    ['text that shows a page', latin1('<html>'), 'text/plain', 'text/plain'],
    ['Markdown', latin1('# a'), 'text/markdown', 'text/markdown'],
    ['CSV', latin1('a,b'), 'text/csv', 'text/csv'],
    ['JSON', latin1('{}'), 'application/json', 'application/json'],
    ['a kind of JSON', latin1('{}'), 'application/ld+json', 'application/json'],
    ['a feed', latin1('<rss>'), 'application/rss+xml', 'application/xml'],
    ['a script', latin1('let a'), 'text/javascript', 'text/plain'],
    ['text without a header', latin1('plain'), undefined, 'text/plain'],
    ['two headers', latin1('<p>'), 'text/html, text/plain', 'text/html'],
    ['a PDF called a page', latin1('%PDF-1.7'), 'text/html', 'application/pdf'],
    ['a PDF after garbage', latin1('\n\n%PDF-1.7'), 'application/pdf', 'application/pdf'],
    ['a PNG called a page', latin1('\x89PNG\r\n\x1a\n'), 'text/html', 'image/png'],
    ['a JPEG', latin1('\xff\xd8\xff\xe0'), 'image/jpeg', 'image/jpeg'],
    ['a GIF', latin1('GIF89a'), 'image/gif', 'image/gif'],
    ['a WebP', latin1('RIFF\x01\x02\x03\x04WEBP'), 'image/webp', 'image/webp'],
    ['an MP3', latin1('ID3\x04'), 'audio/mpeg', 'audio/mpeg'],
    ['an MP4', latin1('\0\0\0\x18ftypmp42'), 'video/mp4', 'video/mp4'],
    ['a program', latin1('\x7fELF\x02'), 'text/html', 'application/x-elf'],
    ['a gzip', latin1('\x1f\x8b\x08'), 'text/html', 'application/gzip'],
    [
      'an old office file',
      latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
      '',
      'application/x-ole-storage',
    ],
    [
      'a DOCX',
      latin1('PK\x03\x04....[Content_Types].xml....word/document.xml'),
      '',
      `${office}.wordprocessingml.document`,
    ],
    ['an XLSX', latin1('PK\x03\x04....xl/workbook.xml'), '', `${office}.spreadsheetml.sheet`],
    [
      'a PPTX',
      latin1('PK\x03\x04....ppt/presentation.xml'),
      '',
      `${office}.presentationml.presentation`,
    ],
    ['an EPUB', latin1('PK\x03\x04....mimetypeapplication/epub+zip'), '', 'application/epub+zip'],
    ['a ZIP', latin1('PK\x03\x04....a.txt'), 'text/html', 'application/zip'],
    ['bytes that nobody knows', latin1('\x01\x02\x03\x00'), 'text/html', undefined],
    ['a zero byte in a page', latin1('<p>\0</p>'), 'text/html', undefined],
  ];
  for (const [name, bytes, header, type] of rows) {
    test(`${name} is ${type}`, async () => {
      assert.equal((await readContent(bytes, header))?.mediaType, type);
    });
  }
});

describe('text', () => {
  const rows: readonly [name: string, bytes: Buffer, header: string, text: string][] = [
    ['UTF-8', Buffer.from('é'), 'text/html; charset=UTF-8', 'é'],
    ['no charset', Buffer.from('é'), 'text/html', 'é'],
    ['ISO 8859-1 by its header', latin1('\xe9'), 'text/html;charset="iso-8859-1"', 'é'],
    ['Shift JIS by its header', latin1('\x93\xfa\x96{'), 'text/plain; charset=Shift_JIS', '日本'],
    ['a page that says so itself', latin1('<meta charset=windows-1251>\xcf'), 'text/html', 'П'],
    ['neither', latin1('caf\xe9'), 'text/html', 'café'],
    ['a charset nobody knows', Buffer.from('é'), 'text/html; charset=utf-7', 'é'],
    ['a charset of 2 KB', Buffer.from('é'), `text/html; charset=${'a'.repeat(2000)}`, 'é'],
    ['UTF-16 by its mark', latin1('\xff\xfea\0b\0'), 'text/plain', 'ab'],
    ['a mark that beats the header', Buffer.from('\uFEFFé'), 'text/html; charset=latin1', 'é'],
    [
      'a header that beats the page',
      Buffer.from('<meta charset=latin1>é'),
      'text/html;charset=utf-8',
      'é',
    ],
  ];
  for (const [name, bytes, header, text] of rows) {
    test(`in ${name} becomes UTF-8`, async () => {
      const content = await readContent(bytes, header);
      const decoded = Buffer.from(content?.bytes ?? []).toString('utf8');
      assert.ok(decoded.endsWith(text), decoded);
    });
  }

  // After such a start, no piece ends where a character does.
  const long: readonly [charset: string, start: string, character: string][] = [
    ['shift_jis', '<p>ab', '\x93\xfa'],
    ['big5', '<p>ab', '\xa4\xe9'],
    ['gb18030', '<p>ab', '\x81\x30\x81\x30'],
    ['iso-2022-jp', '<p>ab', '\x1b$B!!\x1b(B'],
    ['utf-16le', 'a\0', '\x3d\xd8\x00\xde'],
    ['windows-1252', '<p>ab', '\xe9'],
  ];
  for (const [charset, start, character] of long) {
    test(`in ${charset} is decoded in pieces without a seam`, async () => {
      const bytes = latin1(`${start}${character.repeat(300_000)}`);
      const content = await readContent(bytes, `text/html; charset=${charset}`);
      const whole = Buffer.from(new TextDecoder(charset).decode(bytes));
      assert.ok(whole.equals(content?.bytes ?? new Uint8Array()));
    });
  }

  test('of the largest size lets the event loop turn', async () => {
    const bytes = Buffer.alloc(limits.document.sourceBytesMax, 0x81);
    const turns = await turnsDuring(() => readContent(bytes, 'text/html; charset=big5'));
    assert.ok(turns > turnsMin, `${turns} turns`);
  });
});
