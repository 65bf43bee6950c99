/** A staged source belongs to a corpus. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setupSession as setup } from '../../test/support/session-fixture.ts';

test('a source that failed for one corpus is not added to another', async (t) => {
  const { session, upload, rows } = await setup(t);
  await upload('empty.txt', '');
  await session.start('me', 'notes');
  await session.settled();
  await upload('good.txt', 'text');
  await session.start('me', 'books');
  await session.settled();
  assert.deepEqual(await rows('SELECT source FROM items'), [{ source: 'upload:good.txt' }]);
  assert.deepEqual(
    session.sources('me').map(({ name, corpus }) => [name, corpus]),
    [['empty.txt', 'notes']],
  );
  await assert.rejects(() => session.start('me', 'books'), { code: 'sources_empty' });
});

test('the same name can be staged for two corpora', async (t) => {
  const { session } = await setup(t);
  for (const corpus of ['notes', 'books', 'books']) {
    const request = session.staging.open('me');
    request.into(corpus);
    await request.upload({ name: 'a.txt', pieces: piecesOf(`text of ${corpus}`) });
    await request.commit();
  }
  assert.deepEqual(
    session.sources('me').map(({ name, corpus }) => [name, corpus]),
    [
      ['a.txt', 'notes'],
      ['a.txt', 'books'],
    ],
  );
});

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
