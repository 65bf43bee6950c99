/** What the commit of an attempt stores. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeMail } from '../../test/support/mail-writer.ts';
import { setupSession as setup } from '../../test/support/session-fixture.ts';
import { parse } from '../pipeline/extract/format/parse.ts';
import type { Parser } from '../pipeline/extract/parsed.ts';

test('chunks of staged files have the page on which they begin', async (t) => {
  const parser: Parser = async (input, signal) => ({
    ...(await parse(input, signal)),
    meta: { page_starts: '3:0,5:14' },
  });
  const { session, upload, rows } = await setup(t, { parser });
  await upload('one.md', '# One\n\nFirst.\n\n# Two\n\nSecond.');
  await session.start('me', 'notes');
  await session.settled();
  assert.deepEqual(await rows('SELECT page FROM chunks ORDER BY ordinal'), [
    { page: 3 },
    { page: 5 },
  ]);
});

test('a mail with files is committed as bytes, and its item adds the files', async (t) => {
  const { session, upload, count, rows } = await setup(t);
  const files = [{ name: 'walrus.txt', content: 'The walrus sleeps.' }];
  await upload('with.eml', writeMail({ text: 'The Otter arrives.', files }));
  await upload('without.eml', writeMail({ text: 'The rope is long.' }));
  await session.start('me', 'notes');
  await session.settled();
  assert.equal(session.look('me').status, 'complete');
  assert.deepEqual(await rows('SELECT source, step, waits_on FROM items ORDER BY source'), [
    { source: 'upload:with.eml', step: 'fetched', waits_on: 'turn' },
    { source: 'upload:without.eml', step: 'chunked', waits_on: 'turn' },
  ]);
  assert.equal(await count('fetches'), 2);
  assert.equal(await count('texts'), 1);
});
