/** A corpus that follows a folder, on both databases. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SourceKind } from '../../src/engine/sync/source-kind.ts';
import { Failure, type OpenOptions, open, type Pawl } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { folderKind } from '../../src/source/kind/folder.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import {
  documentsOf,
  filesIn,
  syncNow,
  told,
  untilEnded,
  writeOld,
} from '../support/sync-scene.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres({ durable: false });
});
after(() => postgres.stop());

const stores: Readonly<Record<string, (data: string) => Promise<OpenOptions>>> = {
  'the embedded store': async (data) => ({ data }),
  Postgres: async (data) => ({ data, database: await postgres.createDatabase() }),
};

/** The folder, with parts that cannot be listed. */
function withProblems(problems: readonly Failure[]): SourceKind {
  const kind = folderKind();
  return {
    ...kind,
    async *list(place, from) {
      for await (const page of kind.list(place, from)) yield { ...page, problems };
    },
  };
}

const corpus = 'docs';
const name = 'folder';

interface Scene {
  readonly pawl: Pawl;
  readonly folder: string;
}

for (const [store, optionsOf] of Object.entries(stores)) {
  const setup = async (t: Cleanup, files = 3, more: OpenOptions = {}): Promise<Scene> => {
    const root = temporaryDirectory(t);
    const folder = join(root, 'docs');
    mkdirSync(folder);
    for (let number = 0; number < files; number += 1) {
      writeOld(
        folder,
        `part/${number}.md`,
        `# Page ${number}\n\nThe heron number ${number} waits.`,
      );
    }
    const pawl = await open({ ...(await optionsOf(join(root, 'store'))), ...more });
    t.after(() => pawl.close());
    return { pawl, folder };
  };
  const follow = ({ pawl, folder }: Scene) =>
    sessionOf(pawl).ask('POST /sources', { body: { corpus_name: corpus, location: folder, name } });
  const texts = async ({ pawl, folder }: Scene) => {
    const documents = await documentsOf(pawl, corpus, folder);
    return new Map([...documents].map(([key, { text }]) => [key, text]));
  };
  const checkEqual = async (scene: Scene): Promise<void> => {
    const files = filesIn(scene.folder);
    const documents = await texts(scene);
    assert.deepEqual([...documents.keys()].sort(), [...files.keys()].sort());
    for (const [key, text] of files) {
      const [, last = ''] = text.split('\n\n');
      assert.ok(documents.get(key)?.includes(last), `${key} has another text`);
    }
  };

  describe(`a corpus that follows a folder, on ${store}`, () => {
    test('adds, changes and removes documents as the folder does', async (t) => {
      const scene = await setup(t);
      const { pawl, folder } = scene;
      await follow(scene);
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, added 3');
      await checkEqual(scene);
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 3');
      writeOld(folder, 'part/1.md', '# Page 1\n\nThe heron number 1 flies away.');
      writeOld(folder, 'new.md', '# New\n\nA kingfisher.');
      rmSync(join(folder, 'part/2.md'));
      const run = await syncNow(pawl, name);
      assert.equal(told(run), 'succeeded, added 1, changed 1, removed 1, unchanged 1');
      await checkEqual(scene);
      const hits = await pawl.search(corpus, 'number 2', { mode: 'keyword' });
      assert.ok(hits.every(({ sourceUrl }) => !sourceUrl.endsWith('2.md')));
    });

    test('keeps identity, history and vectors of a renamed file, and pays nothing', async (t) => {
      const scene = await setup(t);
      const { pawl, folder } = scene;
      await follow(scene);
      await syncNow(pawl, name);
      const before = await documentsOf(pawl, corpus, folder);
      renameSync(join(folder, 'part/0.md'), join(folder, 'moved.md'));
      const run = await syncNow(pawl, name);
      assert.equal(told(run), 'succeeded, moved 1, unchanged 2');
      assert.deepEqual(run.job_ids, []);
      const after = await documentsOf(pawl, corpus, folder);
      assert.deepEqual(after.get('moved.md'), before.get('part/0.md'));
      const [hit] = await pawl.search(corpus, 'heron number 0', { mode: 'keyword', topK: 1 });
      assert.equal(hit?.sourceUrl, join(folder, 'moved.md'));
      // A new file under the old name is another document.
      writeOld(folder, 'part/0.md', '# Other\n\nA stranger.');
      await syncNow(pawl, name);
      await checkEqual(scene);
      const last = await documentsOf(pawl, corpus, folder);
      assert.equal(last.get('moved.md')?.id, before.get('part/0.md')?.id);
      assert.notEqual(last.get('part/0.md')?.id, before.get('part/0.md')?.id);
      // And a change of the renamed file is a generation of the same document.
      writeOld(folder, 'moved.md', '# Page 0\n\nThe heron is older now.');
      await syncNow(pawl, name);
      const changed = (await documentsOf(pawl, corpus, folder)).get('moved.md');
      assert.deepEqual([changed?.id, changed?.generation], [before.get('part/0.md')?.id, 2]);
      await checkEqual(scene);
    });

    test('holds many removals for a person, who applies or ignores them', async (t) => {
      const scene = await setup(t, 30);
      const { pawl, folder } = scene;
      await follow(scene);
      await syncNow(pawl, name);
      for (let number = 0; number < 12; number += 1) rmSync(join(folder, `part/${number}.md`));
      writeOld(folder, 'new.md', '# New\n\nA kingfisher.');
      const held = await syncNow(pawl, name);
      assert.equal(told(held), 'held, added 1, removed 12, unchanged 18');
      assert.equal((await texts(scene)).size, 31);
      const ignored = await sessionOf(pawl).ask('POST /sources/:name/ignore', { params: { name } });
      await untilEnded(pawl, name, ignored.run_id);
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 19');
      assert.equal((await texts(scene)).size, 31);
      for (let number = 12; number < 29; number += 1) rmSync(join(folder, `part/${number}.md`));
      assert.equal((await syncNow(pawl, name)).state, 'held');
      const applied = await sessionOf(pawl).ask('POST /sources/:name/apply', { params: { name } });
      const ended = await untilEnded(pawl, name, applied.run_id);
      assert.equal(told(ended), 'succeeded, removed 17, unchanged 2');
      assert.equal((await texts(scene)).size, 14);
    });

    test('holds removals above the share that the source has chosen', async (t) => {
      const scene = await setup(t, 30);
      const { pawl, folder } = scene;
      await follow(scene);
      await syncNow(pawl, name);
      const choose = async (hold_above_percent: number) => {
        const body = { hold_above_percent };
        const asked = { params: { name }, body };
        const source = await sessionOf(pawl).ask('PATCH /sources/:name', asked);
        assert.equal(source.hold_above_percent, hold_above_percent);
      };
      const lose = (from: number, to: number) => {
        for (let number = from; number < to; number += 1) rmSync(join(folder, `part/${number}.md`));
      };
      await choose(40);
      lose(0, 12);
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, removed 12, unchanged 18');
      lose(12, 24);
      assert.equal((await syncNow(pawl, name)).state, 'held');
      await choose(100);
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, removed 12, unchanged 6');
      lose(24, 30);
      assert.equal((await syncNow(pawl, name)).state, 'held', 'an empty listing');
    });

    test('holds an empty listing, however few documents it has', async (t) => {
      const scene = await setup(t);
      const { pawl, folder } = scene;
      await follow(scene);
      await syncNow(pawl, name);
      renameSync(join(folder, 'part'), join(folder, '.part'));
      assert.equal((await syncNow(pawl, name)).state, 'held');
      renameSync(join(folder, '.part'), join(folder, 'part'));
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 3');
      await checkEqual(scene);
    });

    test('brings removed documents back, by request or when their file returns', async (t) => {
      const scene = await setup(t);
      const { pawl, folder } = scene;
      await follow(scene);
      await syncNow(pawl, name);
      const before = await documentsOf(pawl, corpus, folder);
      renameSync(join(folder, 'part/0.md'), join(folder, '.kept.md'));
      rmSync(join(folder, 'part/1.md'));
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, removed 2, unchanged 1');
      const { items } = await sessionOf(pawl).ask('GET /sources/:name/removed', {
        params: { name },
      });
      assert.deepEqual(items.map(({ key }) => key).sort(), ['part/0.md', 'part/1.md']);
      renameSync(join(folder, '.kept.md'), join(folder, 'back.md'));
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, restored 1, unchanged 1');
      const body = { keys: ['part/1.md'] };
      const params = { name };
      assert.deepEqual(await sessionOf(pawl).ask('POST /sources/:name/restore', { params, body }), {
        restored: 1,
      });
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 2');
      const after = await documentsOf(pawl, corpus, folder);
      assert.deepEqual(after.get('back.md'), before.get('part/0.md'));
      assert.deepEqual(after.get('part/1.md'), before.get('part/1.md'));
      const hits = await pawl.search(corpus, 'heron number 1', { topK: 5 });
      assert.ok(hits.some(({ sourceUrl }) => sourceUrl.endsWith('part/1.md')));
    });

    test('adopts what was ingested from the folder before', async (t) => {
      const scene = await setup(t);
      const { pawl, folder } = scene;
      await (await pawl.ingest([folder], { corpus })).wait();
      rmSync(join(folder, 'part/0.md'));
      renameSync(join(folder, 'part/1.md'), join(folder, 'one.md'));
      await follow(scene);
      const run = await syncNow(pawl, name);
      assert.equal(told(run), 'succeeded, moved 1, removed 1, unchanged 1');
      await checkEqual(scene);
    });

    test('fails without a change while the folder is missing, and recovers', async (t) => {
      const scene = await setup(t);
      const { pawl, folder } = scene;
      await follow(scene);
      await syncNow(pawl, name);
      renameSync(folder, `${folder}.away`);
      const run = await syncNow(pawl, name);
      assert.deepEqual([run.state, run.error?.code], ['failed', 'source_missing']);
      const params = { name };
      const failing = await sessionOf(pawl).ask('GET /sources/:name', { params });
      assert.deepEqual([failing.state, failing.error?.code], ['failing', 'source_missing']);
      renameSync(`${folder}.away`, folder);
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 3');
      assert.equal((await sessionOf(pawl).ask('GET /sources/:name', { params })).state, 'active');
      await checkEqual(scene);
    });

    test('removes nothing while a part of the folder cannot be read', async (t) => {
      const problems: Failure[] = [];
      const scene = await setup(t, 3, { sourceKinds: [withProblems(problems)] });
      const { pawl, folder } = scene;
      await follow(scene);
      await syncNow(pawl, name);
      rmSync(join(folder, 'part/1.md'));
      renameSync(join(folder, 'part/2.md'), join(folder, 'two.md'));
      problems.push(new Failure('source_unreadable', 'the folder part cannot be read'));
      const run = await syncNow(pawl, name);
      assert.equal(told(run), 'partial, added 1, unchanged 1');
      const failing = await sessionOf(pawl).ask('GET /sources/:name', { params: { name } });
      assert.deepEqual([failing.state, failing.error?.code], ['failing', 'source_unreadable']);
      assert.equal((await texts(scene)).size, 4);
      problems.length = 0;
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, removed 2, unchanged 2');
      await checkEqual(scene);
    });

    test('reads no file whose size and times are the same, and no text twice', async (t) => {
      const scene = await setup(t);
      const { pawl, folder } = scene;
      await follow(scene);
      await syncNow(pawl, name);
      utimesSync(join(folder, 'part/0.md'), 1000, 1000);
      assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 3');
      const plan = await sessionOf(pawl).ask('POST /sources/:name/run', {
        params: { name },
        body: { plan: true },
      });
      rmSync(join(folder, 'part/0.md'));
      await untilEnded(pawl, name, plan.run_id);
      assert.equal((await texts(scene)).size, 3);
    });

    test('is paused, resumed and removed; the documents stay', async (t) => {
      const scene = await setup(t);
      const { pawl } = scene;
      await follow(scene);
      await syncNow(pawl, name);
      const params = { name };
      assert.equal(
        (await sessionOf(pawl).ask('POST /sources/:name/pause', { params })).state,
        'paused',
      );
      await assert.rejects(syncNow(pawl, name), { code: 'action_not_allowed' });
      assert.equal(
        (await sessionOf(pawl).ask('POST /sources/:name/resume', { params })).state,
        'active',
      );
      await sessionOf(pawl).ask('DELETE /sources/:name', { params });
      await assert.rejects(syncNow(pawl, name), { code: 'sync_source_unknown' });
      assert.equal((await texts(scene)).size, 3);
      assert.deepEqual(await sessionOf(pawl).ask('GET /sources'), { items: [] });
    });
  });
}
