/** The kind of source of the examples passes the suite of `pawl/testing`; a corpus follows it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { mapKind } from '../../examples/own-source.ts';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { sourceConformance } from '../../src/testing/index.ts';
import { syncNow, told } from '../support/sync-scene.ts';
import { temporaryDirectory } from '../support/temporary.ts';

sourceConformance('of the examples', () => {
  const notes = new Map<string, string>();
  return {
    kind: mapKind(notes),
    location: 'notes',
    write: (texts) => {
      for (const [name, text] of Object.entries(texts)) notes.set(name, text);
    },
    remove: (name) => void notes.delete(name),
  };
});

test('a corpus follows the kind of source of the examples', async (t) => {
  const notes = new Map([['sea.txt', 'The moon moves it.']]);
  const data = join(temporaryDirectory(t), 'store');
  const pawl = await open({ data, sourceKinds: [mapKind(notes)] });
  t.after(() => pawl.close());
  const body = { corpus_name: 'notes', kind: 'map', location: 'notes', name: 'notes' };
  await sessionOf(pawl).ask('POST /sources', { body });
  assert.equal(told(await syncNow(pawl, 'notes')), 'succeeded, added 1');
  assert.equal(told(await syncNow(pawl, 'notes')), 'succeeded, unchanged 1');
  notes.set('lake.txt', 'The moon moves it.');
  notes.delete('sea.txt');
  assert.equal(told(await syncNow(pawl, 'notes')), 'succeeded, moved 1');
  notes.set('lake.txt', 'Nothing moves it.');
  assert.equal(told(await syncNow(pawl, 'notes')), 'succeeded, changed 1');
  const [hit] = await pawl.search('notes', 'nothing', { mode: 'keyword' });
  assert.equal(hit?.sourceUrl, 'notes/lake.txt');
});
