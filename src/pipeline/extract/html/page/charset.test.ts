import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeHtml } from './charset.ts';

const latin = (text: string) => Buffer.from(text, 'latin1');

test('UTF-8 is read as UTF-8 despite another declaration', () => {
  const page = '<meta charset="iso-8859-1"><p>Grüße</p>';
  assert.equal(decodeHtml(Buffer.from(page)), page);
});

test('other bytes are read as the page declares', () => {
  const bytes = Buffer.concat([
    latin('<meta charset="windows-1251"><p>'),
    Buffer.from([0xcf, 0xf0]),
  ]);
  assert.equal(decodeHtml(bytes), '<meta charset="windows-1251"><p>Пр');
});

test('the declaration of the server has priority over that of the page', () => {
  const bytes = Buffer.concat([latin('<meta charset="koi8-r">'), Buffer.from([0xcf, 0xf0])]);
  assert.equal(decodeHtml(bytes, 'windows-1251'), '<meta charset="koi8-r">Пр');
});

test('bytes without a declaration, or with an unknown one, are read as the web does', () => {
  assert.equal(decodeHtml(latin('Grüße')), 'Grüße');
  assert.equal(decodeHtml(latin('<meta charset="x-none">ü')), '<meta charset="x-none">ü');
});

test('bytes that contradict the declaration are read as the language they look like', () => {
  const words = Array.from({ length: 5 }, () => [0xc7, 0xe1, 0xe3, 0xcf, 0xed, 0xe4, 0xc9, 0x20]);
  const bytes = Buffer.concat([latin('<meta charset="utf-8"><p>'), Buffer.from(words.flat())]);
  assert.match(decodeHtml(bytes), /المدينة المدينة/);
});
