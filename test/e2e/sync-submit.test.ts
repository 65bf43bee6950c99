/** What a run makes of documents whose earlier submission is open, has failed, or was canceled. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { open, type Pawl } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { documentsOf, syncNow, told, untilEnded, writeOld } from '../support/sync-scene.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const corpus = 'docs';
const name = 'folder';

/** A gate in the pipeline: documents wait at it while it is shut. */
function gate() {
  let { promise, resolve } = Promise.withResolvers<void>();
  resolve();
  return {
    shut: () => {
      ({ promise, resolve } = Promise.withResolvers<void>());
    },
    open: () => resolve(),
    pass: () => promise,
  };
}

async function setup(t: TestContext, files = 2) {
  const root = temporaryDirectory(t);
  const folder = join(root, 'docs');
  mkdirSync(folder);
  for (let file = 0; file < files; file += 1) {
    writeOld(folder, `${file}.md`, `# Page ${file}\n\nThe heron number ${file} waits.`);
  }
  const [door, fetching] = [gate(), gate()];
  const pawl = await open({
    data: join(root, 'store'),
    steps: [
      {
        add: 'waited',
        bit: 16,
        version: '1',
        run: async () => {
          await door.pass();
          return undefined;
        },
      },
      {
        wrap: 'fetched',
        version: '1',
        run: async (_document, _call, next) => {
          await fetching.pass();
          await next();
        },
      },
    ],
  });
  t.after(async () => {
    door.open();
    fetching.open();
    await pawl.close();
  });
  await sessionOf(pawl).ask('POST /sources', {
    body: { corpus_name: corpus, location: folder, name },
  });
  return { pawl, folder, door, fetching };
}

/** Runs the source, and does not wait for its jobs. */
async function runOnly(pawl: Pawl) {
  const params = { name };
  const { run_id } = await sessionOf(pawl).ask('POST /sources/:name/run', { params, body: {} });
  return until(
    async () => {
      const query = { params: { name, run: String(run_id) } };
      const run = await sessionOf(pawl).ask('GET /sources/:name/runs/:run', query);
      return run.ended_at === null ? undefined : run;
    },
    { what: `the end of run ${run_id}` },
  );
}

async function submitted(pawl: Pawl): Promise<string[]> {
  const rows = await sessionOf(pawl).store.run<{ source: string }>(
    { text: 'SELECT source FROM items ORDER BY id' },
    {},
  );
  return rows.map(({ source }) => source.slice(source.lastIndexOf('/') + 1));
}

async function inbox(pawl: Pawl): Promise<string[]> {
  const { items } = await sessionOf(pawl).ask('GET /inbox');
  return items.map(({ source }) => source.slice(source.lastIndexOf('/') + 1));
}

describe('a run of a source', () => {
  test('submits no document again that is still being indexed', async (t) => {
    const { pawl, folder, door } = await setup(t);
    door.shut();
    // Written just now: its times prove nothing.
    writeFileSync(join(folder, 'new.md'), '# New\n\nA kingfisher.');
    assert.equal(told(await runOnly(pawl)), 'succeeded, added 3');
    assert.equal(told(await runOnly(pawl)), 'succeeded, unchanged 3');
    assert.deepEqual(await submitted(pawl), ['0.md', '1.md', 'new.md']);
    writeFileSync(join(folder, 'new.md'), '# New\n\nA kingfisher dives.');
    assert.equal(told(await runOnly(pawl)), 'succeeded, changed 1, unchanged 2');
    assert.equal(told(await runOnly(pawl)), 'succeeded, unchanged 3');
    door.open();
    await syncNow(pawl, name);
    for await (const { jobId } of pawl.jobs()) await (await pawl.job(jobId)).wait();
    assert.match((await documentsOf(pawl, corpus, folder)).get('new.md')?.text ?? '', /dives/);
    assert.deepEqual(await submitted(pawl), ['0.md', '1.md', 'new.md', 'new.md']);
  });

  test('gives a moved file its own text, also while another one is being indexed', async (t) => {
    const { pawl, folder, door } = await setup(t);
    await syncNow(pawl, name);
    door.shut();
    writeOld(folder, '0.md', '# Page 0\n\nThe heron number 0 flies away.');
    assert.equal(told(await runOnly(pawl)), 'succeeded, changed 1, unchanged 1');
    renameSync(join(folder, '0.md'), join(folder, 'moved.md'));
    await runOnly(pawl);
    door.open();
    for await (const { jobId } of pawl.jobs()) await (await pawl.job(jobId)).wait();
    await syncNow(pawl, name);
    const documents = await documentsOf(pawl, corpus, folder);
    assert.deepEqual([...documents.keys()].sort(), ['1.md', 'moved.md']);
    assert.match(documents.get('moved.md')?.text ?? '', /flies away/);
  });

  test('submits a changed document again whose job was canceled', async (t) => {
    const { pawl, folder, door } = await setup(t);
    await syncNow(pawl, name);
    door.shut();
    writeOld(folder, '0.md', '# Page 0\n\nThe heron number 0 flies away.');
    const run = await runOnly(pawl);
    for (const id of run.job_ids) await (await pawl.job(id)).cancel();
    door.open();
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, changed 1, unchanged 1');
    assert.match((await documentsOf(pawl, corpus, folder)).get('0.md')?.text ?? '', /flies/);
  });

  test('submits a file again that was away when its job read it', async (t) => {
    const { pawl, folder, fetching } = await setup(t);
    await syncNow(pawl, name);
    fetching.shut();
    writeOld(folder, '0.md', '# Page 0\n\nThe heron has left.');
    writeOld(folder, 'new.md', '# New\n\nA bittern has come.');
    const run = await runOnly(pawl);
    renameSync(folder, `${folder}.away`);
    fetching.open();
    await untilEnded(pawl, name, run.run_id);
    assert.deepEqual((await inbox(pawl)).sort(), ['0.md', 'new.md']);
    renameSync(`${folder}.away`, folder);
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, added 1, changed 1, unchanged 1');
    const documents = await documentsOf(pawl, corpus, folder);
    assert.match(documents.get('0.md')?.text ?? '', /The heron has left/);
    assert.match(documents.get('new.md')?.text ?? '', /A bittern has come/);
    assert.deepEqual(await inbox(pawl), []);
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 3');
  });

  test('takes failures of repaired and deleted files out of the inbox', async (t) => {
    const { pawl, folder } = await setup(t);
    for (const file of ['repaired.md', 'deleted.md', 'left.md']) writeOld(folder, file, '');
    await syncNow(pawl, name);
    assert.deepEqual((await inbox(pawl)).sort(), ['deleted.md', 'left.md', 'repaired.md']);
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 5');
    writeOld(folder, 'repaired.md', '# Now\n\nIt has a text.');
    rmSync(join(folder, 'deleted.md'));
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, changed 1, removed 1, unchanged 3');
    assert.deepEqual(await inbox(pawl), ['left.md']);
    const causes = await pawl.causes();
    assert.deepEqual(
      causes.map(({ count }) => count),
      [1],
    );
  });

  test('waits for a plan, and a plan for a run', async (t) => {
    const { pawl, folder } = await setup(t);
    await syncNow(pawl, name);
    writeOld(folder, 'new.md', '# New\n\nA kingfisher.');
    const params = { name };
    const ask = sessionOf(pawl).ask;
    const runs = await Promise.all(
      [true, false, true].map((plan) => ask('POST /sources/:name/run', { params, body: { plan } })),
    );
    assert.deepEqual(
      runs.map(({ is_plan }) => is_plan),
      [true, false, true],
    );
    const ended = [];
    for (const { run_id } of runs) ended.push(await untilEnded(pawl, name, run_id));
    const applied = ended.filter(({ is_plan }) => !is_plan);
    assert.deepEqual(
      applied.map((run) => [told(run), run.open]),
      [['succeeded, added 1, unchanged 2', 0]],
    );
    assert.ok(ended.every(({ is_plan, found, open: left }) => !is_plan || left === found.added));
  });

  test('that a resumed schedule begins is not taken for a plan', async (t) => {
    const { pawl, folder } = await setup(t);
    const ask = sessionOf(pawl).ask;
    const body = { corpus_name: corpus, location: folder, name, schedule: 'every 1h' };
    await ask('POST /sources', { body });
    const params = { name };
    await ask('POST /sources/:name/pause', { params });
    await ask('POST /sources/:name/resume', { params });
    const { run_id, is_plan } = await ask('POST /sources/:name/run', {
      params,
      body: { plan: true },
    });
    assert.equal(is_plan, true);
    const plan = await untilEnded(pawl, name, run_id);
    assert.deepEqual([plan.is_plan, plan.open, plan.job_ids], [true, plan.found.added, []]);
  });
});
