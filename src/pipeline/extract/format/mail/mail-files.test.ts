import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertCpuMs } from '../../../../../test/support/measure.ts';
import { limits } from '../../../../kernel/limits/limits.ts';
import { filesOf, type MailPart } from './mail-files.ts';

const part = (name: string, more: Partial<MailPart> & { size?: number } = {}): MailPart => ({
  name,
  mediaType: 'text/plain',
  read: () => Buffer.alloc(more.size ?? 3, 'a'),
  ...more,
});

test('a small inline picture is not a document; others are', () => {
  const { decorationBytesMax } = limits.attachment;
  const picture = { mediaType: 'image/png', contentId: 'logo@a' };
  const parts = [
    part('logo.png', picture),
    part('photo.png', { ...picture, size: decorationBytesMax + 1 }),
    part('unseen.png', { ...picture, contentId: 'other@a' }),
    part('text.txt', { ...picture, mediaType: 'text/plain' }),
  ];
  const { attachments, meta } = filesOf(parts, '<img src="cid:logo@a">');
  const names = attachments.map(({ name }) => name);
  assert.deepEqual(names, ['photo.png', 'unseen.png', 'text.txt']);
  assert.equal(meta.attachments, 3);
});

test('files with equal names, or without one, get distinct names', () => {
  const parts = [
    ...['a.txt', 'a.txt', 'a (2).txt', '', 'README', 'README', '..'].map((name) => part(name)),
    part('Fwd: tide', { mediaType: 'message/rfc822' }),
    part('', { mediaType: 'message/rfc822' }),
    part('', { mediaType: 'application/x-unknown' }),
  ];
  assert.deepEqual(
    filesOf(parts, '').attachments.map(({ name }) => name),
    [
      ...['a.txt', 'a (2).txt', 'a (2) (2).txt', 'attachment-4.txt', 'README', 'README (2)'],
      ...['attachment-7.txt', 'Fwd: tide.eml', 'attachment-9.eml', 'attachment-10'],
    ],
  );
});

test('files above the limits are listed with the reason, and not read', () => {
  const { filesMax, bytesMax } = limits.attachment;
  const many = Array.from({ length: filesMax + 3 }, (_, index) => part(`${index}.txt`));
  const found = filesOf(many, '');
  assert.equal(found.attachments.length, filesMax);
  assert.equal(found.meta.attachments, filesMax + 3);
  assert.match(found.text, /- 3 more: not read, the bound is 100 files$/);
  const large = filesOf([part('a', { size: bytesMax }), part('b')], '');
  assert.deepEqual(
    large.attachments.map(({ name }) => name),
    ['a'],
  );
  assert.match(large.text, /- b \(text\/plain\): not read, all files together have more than/);
});

test('many parts and a long text that refers to them take linear time', () => {
  const html = '<img src="cid:x">cid:'.repeat(200_000);
  const parts = Array.from({ length: 20_000 }, (_, index) =>
    part('a.png', { mediaType: 'image/png', contentId: index % 2 === 0 ? 'x' : 'y' }),
  );
  assertCpuMs(2000, () => void filesOf(parts, html), 'files of a mail');
});
