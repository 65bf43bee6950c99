import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measure } from '../article/measure.ts';
import { scan } from './scan.ts';

function read(html: string): string[] {
  const seen: string[] = [];
  scan(html, {
    onText: (text) => seen.push(text),
    onTag: ({ name, isClosing }) => seen.push(isClosing ? `</${name}>` : `<${name}>`),
  });
  return seen;
}

test('tags and text come in order, names in small letters', () => {
  assert.deepEqual(read('a<P>b</P >c<br/>'), ['a', '<p>', 'b', '</p>', 'c', '<br>']);
});

test('a bracket inside a quoted value does not end a tag', () => {
  assert.deepEqual(read('<a title="1 > 0">x</a>'), ['<a>', 'x', '</a>']);
});

test('a bracket that opens no tag is text', () => {
  assert.deepEqual(read('1 < 2'), ['1 ', '<', ' 2']);
});

test('nothing inside a script or a comment is a tag', () => {
  const html = '<script>if (a<b) "<p>"</script><!-- <p> -->x';
  assert.deepEqual(read(html), ['<script>', 'if (a<b) "<p>"', '</script>', 'x']);
});

test('depth counts what stays open, not paragraphs that close themselves', () => {
  assert.equal(measure('<div><div><p>a<p>b<p>c').depth, 2);
});

test('shapes of a drawing are closed by their slash, divisions are not', () => {
  assert.equal(measure(`<svg>${'<path/>'.repeat(100)}</svg>`).depth, 1);
  assert.equal(measure('<div/>'.repeat(100)).depth, 100);
});
