import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Parsed } from '../parsed.ts';
import { FrameReader, framePartsOf } from './frame.ts';
import { bodyOf, readResponse } from './message.ts';

const mail: Parsed = {
  title: 'Tide',
  language: null,
  markdown: 'Höhe\u{1f30a}',
  meta: { attachments: 2 },
  attachments: [
    { name: 'a.bin', bytes: Buffer.from([0, 255, 10]) },
    { name: 'empty.txt', bytes: Buffer.alloc(0) },
  ],
};

function answerOf(header: object, pieces: readonly Uint8Array[]) {
  const frame = new FrameReader().push(Buffer.concat(framePartsOf(header, ...pieces)));
  assert.ok(frame);
  return readResponse(frame);
}

test('a mail is returned with its files byte for byte', () => {
  const { header, pieces } = bodyOf(mail);
  assert.deepEqual(answerOf({ is: 'parsed', memoryBytes: 1, ...header }, pieces), {
    outcome: mail,
    memoryBytes: 1,
  });
});

test('missing files and unsafe names count as a crash of the parser', () => {
  const { header, pieces } = bodyOf(mail);
  const changes: readonly object[] = [
    { size: 1000 },
    { size: -1 },
    { size: '3' },
    { name: '../a' },
    { name: '' },
    { name: 7 },
  ];
  for (const change of changes) {
    const attachments = [{ ...header.attachments?.[0], ...change }];
    assert.throws(
      () => answerOf({ is: 'parsed', ...header, attachments }, pieces),
      { code: 'parse_crashed' },
      JSON.stringify(change),
    );
  }
});

test('of the metadata from a parser, only values and lists of sentences are kept', () => {
  const meta = {
    pages: 3,
    author: 'Ada',
    degraded: true,
    warnings: ['One page was not read.'],
    mixed: ['a', 1],
    deep: { a: 1 },
    none: null,
  };
  const header = { is: 'parsed', memoryBytes: 1, title: null, language: null, meta };
  const { outcome } = readResponse({ header, body: Buffer.from('words') });
  assert.ok('meta' in outcome);
  const { mixed: _, deep: __, none: ___, ...kept } = meta;
  assert.deepEqual(outcome.meta, kept);
});
