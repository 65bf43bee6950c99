import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaTypeOf } from './media-type.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('the name says what the text is', () => {
  assert.equal(mediaTypeOf('/a/b.md', bytes('x')), 'text/markdown');
  assert.equal(mediaTypeOf('B.MARKDOWN', bytes('x')), 'text/markdown');
  assert.equal(mediaTypeOf('b.HTM', bytes('x')), 'text/html');
  assert.equal(mediaTypeOf('b.txt', bytes('x')), 'text/plain');
  assert.equal(mediaTypeOf('README', bytes('x')), 'text/plain');
});

test('a look inside tells HTML under another name', () => {
  assert.equal(mediaTypeOf('page', bytes('\n <!DOCTYPE HTML><p>x')), 'text/html');
  assert.equal(mediaTypeOf('page.txt', bytes('<html lang="en">')), 'text/html');
  assert.equal(mediaTypeOf('page', bytes('text about <html>')), 'text/plain');
});

test('what is not text has no type, whatever its name says', () => {
  assert.equal(mediaTypeOf('a.md', new Uint8Array([35, 0, 65])), undefined);
  assert.equal(mediaTypeOf('a.txt', new Uint8Array([0xff, 0xfe, 65])), undefined);
  assert.equal(mediaTypeOf('a.html', new Uint8Array([0xc3, 0x28])), undefined);
});

test('a character that the end of the look cuts off is no reason to refuse', () => {
  const text = `${'a'.repeat(8191)}ä and more`;
  assert.equal(mediaTypeOf('a.txt', bytes(text)), 'text/plain');
});

test('a text of nothing is plain', () => {
  assert.equal(mediaTypeOf('a', new Uint8Array()), 'text/plain');
});
