/** `pawl sync`, `pawl watch` and `pawl ingest --prune`, as processes. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { SyncChange, SyncRun, SyncSource } from '../../src/contract/schema/source.ts';
import { syncFailpoints } from '../../src/observe/failpoint.ts';
import { writeOld } from '../support/sync-scene.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

function setup(t: Cleanup, files = 4): CommandRunner {
  const place = openRunner(t);
  for (let index = 0; index < files; index += 1) {
    writeOld(
      join(place.folder, 'docs'),
      `${index}.md`,
      `# Note ${index}\n\nQuince of day ${index}.\n`,
    );
  }
  return place;
}

const add = ['sync', 'add', 'docs', '--corpus', 'notes'];

async function sourcesOf(place: CommandRunner): Promise<string[]> {
  const rows = await place.read(['corpora', 'documents', 'notes']);
  const prefix = join(place.folder, 'docs/');
  return rows.map(({ source_url }) => String(source_url).slice(prefix.length)).sort();
}

describe('pawl sync', { concurrency: 2 }, () => {
  test('adds a folder, plans, runs, shows the history and stops following', async (t) => {
    const place = setup(t);
    const added = await place.run([...add, '--every', '10m']);
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /✓ docs: 4 added/);
    assert.match(added.stderr, /notes follows .*docs as docs/);
    rmSync(join(place.folder, 'docs/0.md'));
    renameSync(join(place.folder, 'docs/1.md'), join(place.folder, 'docs/one.md'));
    const plan = await place.readOne<{ changes: SyncChange[] }>(['sync', 'plan', 'docs']);
    assert.deepEqual(
      plan.changes.map(({ kind, key, from_key }) => [kind, key, from_key]),
      [
        ['moved', 'one.md', '1.md'],
        ['removed', '0.md', null],
      ],
    );
    assert.equal((await sourcesOf(place)).length, 4);
    const run = await place.readOne<SyncRun>(['sync', 'run']);
    assert.deepEqual([run.state, run.found.moved, run.found.removed], ['succeeded', 1, 1]);
    assert.deepEqual(await sourcesOf(place), ['2.md', '3.md', 'one.md']);
    const history = await place.run(['sync', 'history', 'docs', '--kind', 'moved']);
    assert.match(history.stdout, /moved {5}one\.md from 1\.md/);
    const back = await place.run(['sync', 'restore', 'docs', '0.md']);
    assert.match(back.stdout, /brought back 1 document/);
    const { items } = await place.readOne<{ items: SyncSource[] }>(['sync']);
    assert.deepEqual(
      items.map(({ name, schedule, state }) => [name, schedule, state]),
      [['docs', 'every 10m', 'active']],
    );
    assert.equal((await place.run(['sync', 'remove', 'docs', '--yes'])).code, 0);
    assert.match((await place.run(['sync'])).stdout, /no sources/);
    assert.equal((await sourcesOf(place)).length, 4);
  });

  test('shows held removals in the inbox, with what to do', async (t) => {
    const place = setup(t, 16);
    await place.run(add);
    for (let index = 0; index < 12; index += 1) rmSync(join(place.folder, `docs/${index}.md`));
    const refused = await place.run(['sync', 'update', 'docs', '--hold-above', '101']);
    assert.match(refused.stderr, /--hold-above must be a whole number from 0 to 100/);
    const updated = await place.run(['sync', 'update', 'docs', '--hold-above', '30', '--json']);
    assert.equal(JSON.parse(updated.stdout).hold_above_percent, 30);
    const held = await place.run(['sync', 'run', 'docs']);
    assert.equal(held.code, 1, held.stderr);
    assert.match(held.stdout, /12 documents would be removed; a disk may not be mounted/);
    const inbox = await place.run(['inbox']);
    assert.match(inbox.stdout, /remove them {2}pawl sync apply docs/);
    const applied = await place.run(['sync', 'apply', 'docs']);
    assert.equal(applied.code, 0, applied.stderr);
    assert.equal((await sourcesOf(place)).length, 4);
  });

  test('refuses what it cannot do, and says what to do instead', async (t) => {
    const place = setup(t);
    const refusals: readonly [args: readonly string[], words: RegExp][] = [
      [['sync', 'add', 'docs'], /add --corpus NAME/],
      [['sync', 'add', 'nowhere', '--corpus', 'notes'], /there is no folder .*nowhere/],
      [['sync', 'add', 'ftp://a.example/b', '--corpus', 'notes'], /no source is at a ftp: address/],
      [['sync', 'add', 'docs/0.md', '--corpus', 'notes'], /is not a folder: name a folder/],
      [[...add, '--every', '1s'], /not between 10s and 366d/],
      [[...add, '--cron', 'soon'], /five cron fields such as/],
      [['ingest', 'docs', '--corpus', 'notes', '--prune', '--crawl'], /cannot be combined/],
      [['watch', 'docs', '--corpus', 'notes', '--url', 'http://127.0.0.1:1'], /takes no --url/],
    ];
    for (const [args, words] of refusals) {
      const { code, stderr } = await place.run(args);
      assert.notEqual(code, 0);
      assert.match(stderr, words);
    }
    await place.run(add);
    const { code, stderr } = await place.run(['sync', 'run', 'other']);
    assert.equal(code, 1);
    assert.match(stderr, /there is no source other/);
  });
});

describe('pawl ingest --prune', () => {
  test('renames and removes what an earlier ingest left', async (t) => {
    const place = setup(t);
    await place.run(['ingest', 'docs', '--corpus', 'notes']);
    rmSync(join(place.folder, 'docs/0.md'));
    renameSync(join(place.folder, 'docs/1.md'), join(place.folder, 'docs/one.md'));
    const pruned = await place.run(['ingest', 'docs', '--corpus', 'notes', '--prune']);
    assert.equal(pruned.code, 0, pruned.stderr);
    assert.match(pruned.stdout, /1 moved · 1 removed · 2 unchanged/);
    assert.deepEqual(await sourcesOf(place), ['2.md', '3.md', 'one.md']);
  });
});

describe('pawl watch', () => {
  test('follows changes as they happen, and stops at Ctrl-C', async (t) => {
    const place = setup(t);
    const docs = join(place.folder, 'docs');
    const watching = place.start(['watch', 'docs', '--corpus', 'notes']);
    await watching.seen(/watching .*docs; Ctrl-C stops/);
    mkdirSync(join(docs, 'deep'));
    place.write('docs/deep/new.md', '# New\n\nA kingfisher.\n');
    await watching.seen(/1 added/);
    renameSync(join(docs, '0.md'), join(docs, 'deep/zero.md'));
    await watching.seen(/1 moved/);
    rmSync(join(docs, '1.md'));
    await watching.seen(/1 removed/);
    watching.child.kill('SIGINT');
    const { code, stderr } = await watching.finished;
    assert.equal(code, 0, stderr);
    assert.deepEqual(await sourcesOf(place), ['2.md', '3.md', 'deep/new.md', 'deep/zero.md']);
  });
});

describe('a killed run', { concurrency: 2 }, () => {
  for (const point of syncFailpoints) {
    test(`continues after a kill at each pass of ${point}, and repeats nothing`, async (t) => {
      const place = setup(t, 6);
      await place.run(add);
      rmSync(join(place.folder, 'docs/0.md'));
      renameSync(join(place.folder, 'docs/1.md'), join(place.folder, 'docs/one.md'));
      writeOld(join(place.folder, 'docs'), '2.md', '# Note 2\n\nAnother quince.\n');
      writeOld(join(place.folder, 'docs'), 'new.md', '# New\n\nA kingfisher.\n');
      let kills = 0;
      for (let nth = 1; ; nth += 1) {
        const environment = { PAWL_FAILPOINT: `${point}:kill:${nth}` };
        const { signal } = await place.run(['sync', 'run', 'docs'], { environment });
        if (signal !== 'SIGKILL') break;
        kills += 1;
      }
      assert.ok(kills > 0);
      await until(async () => (await place.run(['sync', 'run', 'docs'])).code === 0, {
        what: 'a run that succeeds',
      });
      assert.deepEqual(await sourcesOf(place), [
        '2.md',
        '3.md',
        '4.md',
        '5.md',
        'new.md',
        'one.md',
      ]);
      const { items } = await place.readOne<{ items: { items_total: number }[] }>(['jobs']);
      assert.equal(
        items.reduce((sum, { items_total }) => sum + items_total, 0),
        8,
      );
    });
  }
});
