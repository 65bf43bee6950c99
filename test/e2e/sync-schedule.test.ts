/** Intervals that grow while nothing changes, and the budget that the jobs of a run share. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { mapKind } from '../../examples/own-source.ts';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { startOpenaiServer } from '../support/openai-server.ts';
import { writeOld } from '../support/sync-scene.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const minutes = 60_000;

test('a source with two intervals is asked less often while it does not change', async (t) => {
  const root = temporaryDirectory(t);
  const folder = join(root, 'docs');
  writeOld(folder, 'a.md', '# A\n\nThe heron waits.');
  const pawl = await open({ data: join(root, 'store') });
  t.after(() => pawl.close());
  await pawl.addSource({ corpus: 'docs', location: folder, name: 'docs' });
  await pawl.runSource('docs');
  await pawl.updateSource('docs', { schedule: 'every 15m..2h' });
  // The update made a run due: it is the first one that finds nothing.
  const waits: number[] = [];
  const wait = async (): Promise<number> => {
    await pawl.runSource('docs');
    const { nextRunAt, lastRun } = await pawl.source('docs');
    const ms = Date.parse(String(nextRunAt)) - Date.parse(String(lastRun?.endedAt));
    return Math.round(ms / minutes);
  };
  for (let run = 0; run < 5; run += 1) waits.push(await wait());
  assert.ok(waits.every((ms, index) => ms >= (waits[index - 1] ?? 30)));
  assert.deepEqual(waits.slice(-2), [120, 120]);
  writeOld(folder, 'b.md', '# B\n\nThe kingfisher dives.');
  assert.equal(await wait(), 15);
});

test('the jobs of a run share its budget', async (t) => {
  const server = await startOpenaiServer(t);
  const notes = new Map<string, string>();
  for (let note = 0; note < 150; note += 1) notes.set(`${note}.txt`, `The heron ${note} waits.`);
  const pawl = await open({
    data: join(temporaryDirectory(t), 'store'),
    sourceKinds: [mapKind(notes)],
    embedder: {
      choice: 'openai:metered-model@8',
      url: server.url,
      key: 'sk-of-the-test',
      centsPerMillionTokens: 1,
    },
  });
  t.after(() => pawl.close());
  const source = { corpus: 'notes', kind: 'map', location: 'notes', name: 'notes' };
  await pawl.addSource({ ...source, budgetCents: 30 });
  const run = await pawl.runSource('notes');
  const rows = await sessionOf(pawl).store.run<{ budget_cents: number; items_total: number }>(
    { text: 'SELECT budget_cents, items_total FROM jobs ORDER BY id' },
    {},
  );
  assert.equal(rows.length, run.jobIds.length);
  const shares = rows.map(({ items_total, budget_cents }) => [items_total, budget_cents]);
  assert.deepEqual(shares, [
    [100, 20],
    [50, 10],
  ]);
});
