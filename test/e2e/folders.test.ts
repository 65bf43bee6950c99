/** Real folders: with unreadable and unwanted entries. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { expandSources } from '../../src/source/sources.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { openBench } from './api-client.ts';
import { openRunner } from './pawl-process.ts';

function folderOf(t: TestContext): string {
  const folder = join(temporaryDirectory(t), 'docs');
  mkdirSync(folder);
  writeFileSync(join(folder, 'good.txt'), 'The walrus sleeps in its bay.');
  return folder;
}

async function ingested(t: TestContext, folder: string, followLinks = false) {
  const skipped: string[] = [];
  const pawl = await open({ data: temporaryDirectory(t) });
  try {
    const onSkipped = (source: string, reason: string): void => {
      skipped.push(`${source.slice(folder.length + 1)}: ${reason}`);
    };
    const job = await pawl.ingest([folder], { corpus: 'notes', followLinks, onSkipped });
    await job.wait();
    const documents = (await pawl.documents('notes').all()).map(({ sourceUrl }) => sourceUrl);
    const failed = (await pawl.inbox().all()).map(({ source, error }) => [
      source.slice(folder.length + 1),
      error?.code,
    ]);
    return { skipped, failed, documents };
  } finally {
    await pawl.close();
  }
}

describe('a folder', () => {
  test('with circular and broken links: they fail, the others are read', async (t) => {
    const folder = folderOf(t);
    symlinkSync('loop', join(folder, 'loop'));
    symlinkSync('gone', join(folder, 'dangling'));
    const { documents, failed, skipped } = await ingested(t, folder);
    assert.deepEqual(documents, [join(folder, 'good.txt')]);
    assert.deepEqual(failed.sort(), [
      ['dangling', 'source_missing'],
      ['loop', 'source_unreadable'],
    ]);
    assert.deepEqual(skipped, []);
  });

  test('with links that leave it: they are reported, and only followed on request', async (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, '..', 'secret.txt'), 'The password of the walrus.');
    symlinkSync('../secret.txt', join(folder, 'out.txt'));
    symlinkSync('good.txt', join(folder, 'inside.txt'));
    symlinkSync('..', join(folder, 'up'));
    const first = await ingested(t, folder);
    assert.equal(first.documents.length, 2);
    assert.deepEqual(first.skipped, [
      'out.txt: it is a link that leaves the folder (--follow-links reads it)',
      'up: it is a link to a folder',
    ]);
    const second = await ingested(t, folder, true);
    assert.equal(second.documents.length, 3);
    const matched = await expandSources(['docs/*.txt'], { directory: join(folder, '..') });
    assert.equal(matched.length, 2);
  });

  test('with names that are not UTF-8: they are read, and can be printed', async (t) => {
    const folder = folderOf(t);
    const name = Buffer.from([...Buffer.from('caf'), 0xe9, ...Buffer.from(' 50%.txt')]);
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), 'A text in the café.');
    const { documents, failed } = await ingested(t, folder);
    assert.deepEqual(failed, []);
    assert.deepEqual(documents.sort()[1], `file://${folder}/caf%e9%2050%25.txt`);
  });

  test('that vanishes while it is read: missing files fail, the others are read', async (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, 'short.txt'), 'Not for long.');
    const sources = await expandSources([folder]);
    rmSync(join(folder, 'short.txt'));
    const pawl = await open({ data: temporaryDirectory(t) });
    t.after(() => pawl.close());
    const { row } = await sessionOf(pawl).submit(sources, { corpus: 'notes' });
    const { itemsDone, itemsFailed } = await (await pawl.job(row.key)).wait();
    assert.deepEqual([itemsDone, itemsFailed], [1, 1]);
  });

  test('with an unlistable subfolder: that fails, the others are read', async (t) => {
    const folder = folderOf(t);
    const locked = join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(locked, 0o000);
    chmodSync(join(folder, '..'), 0o755);
    const found = sourcesAsSomebody(folder);
    chmodSync(locked, 0o755);
    if (found === undefined) return t.skip('nobody else can run this Node here');
    assert.deepEqual(found, [join(folder, 'good.txt'), locked]);
  });

  test('of 10,000 files is listed completely, and in order', async (t) => {
    const folder = folderOf(t);
    for (let index = 0; index < 10_000; index += 1) {
      writeFileSync(join(folder, `note-${String(index).padStart(5, '0')}.txt`), `Note ${index}.`);
    }
    const sources = await expandSources([folder]);
    assert.equal(sources.length, 10_001);
    assert.ok(sources.every(({ source }, index) => source > (sources[index - 1]?.source ?? '')));
    const pawl = await open({ data: temporaryDirectory(t), work: false });
    t.after(() => pawl.close());
    const { row } = await sessionOf(pawl).submit(sources, { corpus: 'notes' });
    assert.equal(row.items_total, 10_001);
  });

  test('is sent to a service without unreadable files, which are reported', async (t) => {
    const place = openRunner(t);
    const { service } = await openBench(t);
    place.write('docs/good.txt', 'The walrus sleeps in its bay.');
    symlinkSync('loop', join(place.folder, 'docs', 'loop'));
    const url = ['--url', service.address];
    const sent = await place.run(['ingest', 'docs', '--corpus', 'notes', ...url]);
    assert.equal(sent.code, 2, sent.stderr);
    assert.match(sent.stderr, /skipped .*docs\/loop: not readable \(ELOOP\)/);
    assert.match(sent.stderr, /1 document/);
  });
});

/** The superuser can list every folder, so another user lists it. */
function sourcesAsSomebody(folder: string): string[] | undefined {
  const module = new URL('../../src/source/sources.ts', import.meta.url).href;
  const load = `import { expandSources } from ${JSON.stringify(module)};`;
  if (runAsSomebody(load).status !== 0) return undefined;
  const { stdout, stderr } = runAsSomebody(`${load}
    const found = await expandSources([${JSON.stringify(folder)}]);
    console.log(JSON.stringify(found.map(({ source }) => source)));`);
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout);
}

function runAsSomebody(script: string) {
  const isRoot = process.getuid?.() === 0;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    ...(isRoot && { uid: 65_534, gid: 65_534 }),
  });
}
