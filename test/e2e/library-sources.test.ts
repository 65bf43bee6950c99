/** Sources in a program: the methods of the library. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { open } from '../../src/index.ts';
import { writeOld } from '../support/sync-scene.ts';
import { temporaryDirectory } from '../support/temporary.ts';

async function setup(t: TestContext, files = 3) {
  const root = temporaryDirectory(t);
  const folder = join(root, 'docs');
  for (let file = 0; file < files; file += 1) {
    writeOld(folder, `${file}.md`, `# Page ${file}\n\nThe heron number ${file} waits.`);
  }
  const pawl = await open({ data: join(root, 'store') });
  t.after(() => pawl.close());
  const source = await pawl.addSource({ corpus: 'docs', location: folder, name: 'docs' });
  return { pawl, folder, source };
}

describe('the sources of a program', () => {
  test('are added, planned, run, changed, paused and removed', async (t) => {
    const { pawl, folder, source } = await setup(t);
    assert.deepEqual([source.corpusName, source.kind, source.lastRun], ['docs', 'folder', null]);
    const plan = await pawl.planSource('docs');
    assert.deepEqual([plan.isPlan, plan.open, plan.found.added], [true, 3, 3]);
    const run = await pawl.runSource('docs');
    assert.deepEqual([run.state, run.isPlan, run.found.added], ['succeeded', false, 3]);
    for (const id of run.jobIds) await (await pawl.job(id)).wait();
    assert.deepEqual((await pawl.updateSource('docs', { exclude: ['0*'] })).exclude, ['0*']);
    assert.equal((await pawl.runSource('docs')).found.removed, 1);
    const scheduled = await pawl.updateSource('docs', { schedule: 'every 15m..1d' });
    assert.deepEqual([scheduled.schedule, scheduled.exclude], ['every 15m..1d', ['0*']]);
    const stopped = await pawl.updateSource('docs', { schedule: null });
    assert.deepEqual([stopped.schedule, stopped.nextRunAt, stopped.exclude], [null, null, ['0*']]);
    assert.equal((await pawl.pauseSource('docs')).state, 'paused');
    await assert.rejects(pawl.runSource('docs'), { code: 'action_not_allowed' });
    assert.equal((await pawl.resumeSource('docs')).state, 'active');
    const runs = await pawl.sourceRuns('docs').all();
    assert.ok(runs.length >= 3);
    const changes = await pawl.sourceChanges('docs', run.runId, { kind: 'added' }).all();
    assert.deepEqual(changes.map(({ key }) => key).sort(), ['0.md', '1.md', '2.md']);
    assert.equal((await pawl.source('docs')).location, folder);
    await pawl.removeSource('docs');
    assert.deepEqual(await pawl.sources(), []);
    await assert.rejects(pawl.source('docs'), { code: 'sync_source_unknown' });
  });

  test('hold many removals for a decision, and bring documents back', async (t) => {
    const { pawl, folder } = await setup(t, 14);
    const run = await pawl.runSource('docs');
    for (const id of run.jobIds) await (await pawl.job(id)).wait();
    for (let file = 0; file < 12; file += 1) rmSync(join(folder, `${file}.md`));
    assert.equal((await pawl.runSource('docs')).state, 'held');
    assert.equal((await pawl.ignoreRemovals('docs')).state, 'succeeded');
    assert.equal((await pawl.source('docs')).removed, 0);
    for (let file = 0; file < 12; file += 1)
      writeOld(folder, `${file}.md`, `# Page ${file}\n\nNew.`);
    await pawl.runSource('docs');
    for (let file = 0; file < 12; file += 1) rmSync(join(folder, `${file}.md`));
    assert.equal((await pawl.runSource('docs')).state, 'held');
    assert.equal((await pawl.applyRemovals('docs')).state, 'succeeded');
    assert.equal((await pawl.source('docs')).documents, 2);
    const removed = await pawl.removedDocuments('docs', { limit: 100 });
    assert.equal(removed.length, 12);
    assert.equal(await pawl.restoreDocuments('docs', { keys: ['0.md', '1.md'] }), 2);
    assert.equal(await pawl.restoreDocuments('docs'), 10);
  });

  test('refuse what they do not take, with the closest name', async (t) => {
    const { pawl } = await setup(t);
    const wrong = { corpus: 'docs', location: '/', shedule: '1d' };
    await assert.rejects(pawl.addSource(wrong as never), /schedule/);
    await assert.rejects(pawl.updateSource('docs', { schedule: 'soon' }), /15m\.\.1d/);
    await assert.rejects(
      pawl.runSource('docs', { plan: true } as never),
      /plan is not an option of runSource/,
    );
  });

  test('that a resumed schedule begins are not taken for a plan', async (t) => {
    const { pawl } = await setup(t);
    await pawl.updateSource('docs', { schedule: 'every 1h' });
    await pawl.pauseSource('docs');
    await pawl.resumeSource('docs');
    const plan = await pawl.planSource('docs');
    assert.deepEqual([plan.isPlan, plan.jobIds], [true, []]);
  });

  test('wait no longer than their signal or the life of Pawl', async (t) => {
    const { pawl } = await setup(t);
    const aborting = new AbortController();
    aborting.abort(new Error('enough'));
    await assert.rejects(pawl.runSource('docs', { signal: aborting.signal }), /enough/);
    const running = pawl.runSource('docs');
    await Promise.all([pawl.close(), running.catch(() => undefined)]);
    await assert.rejects(pawl.source('docs'), { code: 'pawl_closed' });
  });

  test('have an address for signed messages', async (t) => {
    const { pawl } = await setup(t);
    const { path, secret } = await pawl.openSourceWebhook('docs');
    assert.match(secret, /^whsec_/);
    assert.equal((await pawl.source('docs')).webhook, path);
    assert.equal((await pawl.closeSourceWebhook('docs')).webhook, null);
  });
});
