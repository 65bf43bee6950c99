import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { writeZip } from '../../extract/format/zip/zip-writer.ts';
import { isReadable, mediaTypeOf, refine } from './media-type.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const samples = join(import.meta.dirname, '../../../../test/samples/format');
const sample = (name: string): Uint8Array => readFileSync(join(samples, name));
const office = 'application/vnd.openxmlformats-officedocument';
const drawingTemplate = writeZip(
  [['[Content_Types].xml', '<Override ContentType="application/vnd.ms-visio.template.main+xml"/>']],
  'stored',
);

describe('the type of a file', () => {
  const rows: readonly [name: string, content: Uint8Array, type: string | undefined][] = [
    ['/a/b.md', bytes('x'), 'text/markdown'],
    ['B.MARKDOWN', bytes('x'), 'text/markdown'],
    ['b.HTM', bytes('x'), 'text/html'],
    ['b.txt', bytes('x'), 'text/plain'],
    ['README', bytes('x'), 'text/plain'],
    ['a', bytes(''), 'text/plain'],
    ['main.rs', bytes('fn main() {}'), 'text/x-source'],
    ['Makefile', bytes('all:'), 'text/x-source'],
    ['a.tsv', bytes('a\tb'), 'text/tab-separated-values'],
    ['a.jsonl', bytes('{}'), 'application/x-ndjson'],
    ['page', bytes('\n <!DOCTYPE HTML><p>x'), 'text/html'],
    ['page.txt', bytes('<html lang="en">'), 'text/html'],
    ['page', bytes('text about <html>'), 'text/plain'],
    ['object', bytes('{"a": 1}'), 'application/json'],
    ['objects', bytes('{"a": 1}\n{"a": 2}\n'), 'application/x-ndjson'],
    ['feed', bytes('<?xml version="1.0"?><rss/>'), 'application/xml'],
    ['mail', bytes('From: a@b.example\r\nDate: Mon\r\n\r\nHello'), 'message/rfc822'],
    ['note.txt', bytes('From: the start\nwe set off'), 'text/plain'],
    ['references', bytes('[1] The first source'), 'text/plain'],
    ['wiki', bytes('[[Start]] leads on'), 'text/plain'],
    ['song.txt', bytes('ID3 tags are for songs'), 'text/plain'],
    ['about.txt', bytes('A file that begins with %PDF-1.7 is a PDF'), 'text/plain'],
    ['a.html', new Uint8Array([0xc3, 0x28]), 'text/html'],
    ['a.txt', new Uint8Array([0xff, 0xfe, 65, 0]), 'text/plain'],
    ['a.md', new Uint8Array([35, 0, 65]), undefined],
    ['box.html', bytes(`<p>${'words '.repeat(200)}\x03</p>`), 'text/html'],
    ['box.txt', bytes(`${'words '.repeat(200)}\x02`), 'text/plain'],
    ['noise.txt', bytes(`${'words '.repeat(20)}\x02\x03\x04`), undefined],
    ['a.txt', new Uint8Array([0xff, 0xfe, 1, 0]), undefined],
    ['a.txt', bytes('a\x01b'), undefined],
    ['report.txt', sample('report.pdf'), 'application/pdf'],
    ['a.pdf', bytes('\n\n%PDF-1.7'), 'application/pdf'],
    ['broken.pdf', bytes('\0\x01\x02'), 'application/pdf'],
    ['x.bin', sample('report.docx'), `${office}.wordprocessingml.document`],
    ['x.docx', sample('stock.xlsx'), `${office}.spreadsheetml.sheet`],
    ['x', drawingTemplate, 'application/zip'],
    ['x', sample('talk.pptx'), `${office}.presentationml.presentation`],
    ['x', sample('report.odt'), 'application/vnd.oasis.opendocument.text'],
    ['x', sample('stock.ods'), 'application/vnd.oasis.opendocument.spreadsheet'],
    ['x', sample('talk.odp'), 'application/vnd.oasis.opendocument.presentation'],
    ['x', sample('book.epub'), 'application/epub+zip'],
    ['x', sample('old-word.rtf'), 'application/rtf'],
    ['x', sample('notice.tiff'), 'image/tiff'],
    ['x.docx', writeZip([['a.txt', 'a']], 'deflated'), `${office}.wordprocessingml.document`],
    ['x.zip', writeZip([['a.txt', 'a']], 'deflated'), 'application/zip'],
    ['x.docx', sample('report.docx').subarray(0, 900), `${office}.wordprocessingml.document`],
  ];
  for (const [name, content, type] of rows) {
    const shown = Buffer.from(content.subarray(0, 20)).toString('latin1');
    test(`${name} with ${JSON.stringify(shown)} is ${type}`, () => {
      assert.equal(mediaTypeOf(name, content), type);
    });
  }

  test('is found even if the sample ends within a character', () => {
    const text = `${'a'.repeat(8191)}ä and more`;
    assert.equal(mediaTypeOf('a.txt', Buffer.from(text)), 'text/plain');
    const wide = Buffer.from(`\ufeff${'a'.repeat(4094)}🚢 and more`, 'utf16le');
    assert.equal(mediaTypeOf('a.txt', wide), 'text/plain');
  });
});

describe('content sent as plain text', () => {
  const rows: readonly [source: string, text: string, type: string][] = [
    ['https://a.example/x.py?raw=1', 'import a', 'text/x-source'],
    ['https://a.example/README.md', '# a', 'text/markdown'],
    ['https://a.example/page.html', '<html>', 'text/plain'],
    ['https://a.example/x', '<html>', 'text/plain'],
    ['https://a.example/1.eml', 'Subject: a', 'message/rfc822'],
    ['https://a.example/1', 'From: a\nDate: b\n\nc', 'message/rfc822'],
  ];
  for (const [source, text, type] of rows) {
    test(`from ${source} is ${type}`, () => {
      assert.equal(refine('text/plain', { source, bytes: bytes(text) }), type);
    });
  }

  test('or as any other type, keeps its type', () => {
    assert.equal(refine('text/html', { source: 'a.py', bytes: bytes('a') }), 'text/html');
  });
});

test('archives, films and programs are not readable, documents and pictures are', () => {
  for (const type of ['application/zip', 'video/mp4', 'application/x-elf', 'image/avif']) {
    assert.equal(isReadable(type), false, type);
  }
  for (const type of ['text/html', 'application/pdf', 'image/png', 'message/rfc822']) {
    assert.equal(isReadable(type), true, type);
  }
});

describe('the type of a page', () => {
  const html = bytes('<?xml version="1.0"?>\n<!-- a --><!DOCTYPE html><p>x');
  const rows: readonly [name: string, content: Uint8Array, type: string][] = [
    ['https://a.example/index.php', html, 'text/html'],
    ['https://a.example/feed.xml#1', html, 'text/html'],
    ['https://a.example/README.md', bytes('<h1 align="center">A</h1>'), 'text/markdown'],
    ['https://a.example/app.vue', bytes('<script setup>a()</script>'), 'text/x-source'],
    ['https://a.example/a.json', bytes('{"a": "<html>"}'), 'application/json'],
  ];
  for (const [name, content, type] of rows) {
    test(`${name} is ${type}`, () => {
      assert.equal(mediaTypeOf(name, content, { isPage: true }), type);
    });
  }

  test('is that of its name if it is a file', () => {
    assert.equal(mediaTypeOf('index.php', bytes('<!doctype html><?php a() ?>')), 'text/x-source');
  });
});
