/** A corpus that follows a git repository. */
import assert from 'node:assert/strict';
import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { folderKind } from '../../src/source/kind/folder.ts';
import { gitKind } from '../../src/source/kind/git/kind.ts';
import { repositoryOf } from '../../src/source/kind/git/repository.ts';
import { sourceConformance } from '../../src/testing/index.ts';
import { makeRepository } from '../support/git-repository.ts';
import { documentsOf, syncNow, told, untilEnded, writeOld } from '../support/sync-scene.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

sourceConformance('git', (t) => {
  const root = temporaryDirectory(t);
  const repository = makeRepository(join(root, 'repository'));
  return {
    kind: gitKind({ folder: join(root, 'clones') }),
    location: repository.folder,
    write: repository.write,
    remove: repository.remove,
    lose: () => rmSync(repository.folder, { recursive: true }),
  };
});

sourceConformance('folder', (t) => {
  const folder = temporaryDirectory(t);
  return {
    kind: folderKind(),
    location: folder,
    write: (texts) => {
      for (const [name, text] of Object.entries(texts)) writeOld(folder, name, text);
    },
    remove: (name) => rmSync(join(folder, name)),
    lose: () => rmSync(folder, { recursive: true }),
  };
});

const corpus = 'docs';
const name = 'repository';

async function setup(t: TestContext, options: Record<string, unknown> = {}) {
  const root = temporaryDirectory(t);
  const repository = makeRepository(join(root, 'repository'));
  repository.write({
    'guide/a.md': '# A\n\nThe heron waits.',
    'guide/b.md': '# B\n\nThe kingfisher dives.',
    'code/c.txt': 'The crane stands.',
    '.hidden/d.md': '# D\n\nNobody sees it.',
  });
  const pawl = await open({ data: join(root, 'store') });
  t.after(() => pawl.close());
  const follow = (more: Record<string, unknown> = {}) =>
    sessionOf(pawl).ask('POST /sources', {
      body: {
        corpus_name: corpus,
        location: repository.folder,
        kind: 'git',
        name,
        ...options,
        ...more,
      },
    });
  const texts = async () => {
    const documents = await documentsOf(pawl, corpus, repository.folder);
    return new Map([...documents].map(([key, each]) => [key.slice(key.indexOf(':') + 1), each]));
  };
  return { pawl, repository, follow, texts, root };
}

describe('a corpus that follows a repository', () => {
  test('adds, changes, renames and removes documents as commits do', async (t) => {
    const { pawl, repository, follow, texts } = await setup(t);
    await follow();
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, added 3');
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 3');
    const before = await texts();
    repository.git('mv', 'guide/a.md', 'guide/moved.md');
    rmSync(join(repository.folder, 'code/c.txt'));
    repository.write({ 'guide/b.md': '# B\n\nThe kingfisher rests.', 'new.md': '# N\n\nAn owl.' });
    const run = await syncNow(pawl, name);
    assert.equal(told(run), 'succeeded, added 1, changed 1, moved 1, removed 1');
    const after = await texts();
    assert.deepEqual([...after.keys()].sort(), ['guide/b.md', 'guide/moved.md', 'new.md']);
    assert.equal(after.get('guide/moved.md')?.id, before.get('guide/a.md')?.id);
    assert.match(after.get('guide/b.md')?.text ?? '', /rests/);
    const [hit] = await pawl.search(corpus, 'heron', { mode: 'keyword', topK: 1 });
    assert.equal(hit?.sourceUrl, `${repository.folder}:guide/moved.md`);
  });

  test('follows a branch, with globs', async (t) => {
    const { pawl, repository, follow, texts } = await setup(t);
    repository.git('checkout', '--quiet', '-b', 'next/one');
    repository.write({ 'guide/next.md': '# Next\n\nAn owl.' });
    repository.git('checkout', '--quiet', 'main');
    await follow({ branch: 'next/one', include: ['guide/*'], exclude: ['**/b.md'] });
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, added 2');
    assert.deepEqual([...(await texts()).keys()].sort(), ['guide/a.md', 'guide/next.md']);
  });

  test('fails without a change while the repository or the branch is missing', async (t) => {
    const { pawl, repository, follow, texts } = await setup(t);
    await follow();
    await syncNow(pawl, name);
    renameSync(repository.folder, `${repository.folder}.away`);
    const run = await syncNow(pawl, name);
    assert.deepEqual([run.state, run.error?.code], ['failed', 'source_missing']);
    assert.equal((await texts()).size, 3);
    renameSync(`${repository.folder}.away`, repository.folder);
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, unchanged 3');
    repository.git('branch', '--quiet', '-m', 'main', 'trunk');
    const params = { name };
    assert.equal((await sessionOf(pawl).ask('GET /sources/:name', { params })).state, 'active');
  });

  test('gives a file that changed and moved before it was indexed its text', async (t) => {
    const { pawl, repository, follow, texts } = await setup(t);
    await follow();
    await syncNow(pawl, name);
    // Of the same size: only the blob tells them apart.
    repository.write({ 'guide/a.md': '# A\n\nThe heron sleep.' });
    // The run has ended, and its job need not have begun.
    await pawl.runSource(name);
    repository.git('mv', 'guide/a.md', 'guide/moved.md');
    repository.commit();
    await syncNow(pawl, name);
    for await (const { jobId } of pawl.jobs()) await (await pawl.job(jobId)).wait();
    assert.equal((await syncNow(pawl, name)).state, 'succeeded');
    const found = await texts();
    assert.deepEqual([...found.keys()].sort(), ['code/c.txt', 'guide/b.md', 'guide/moved.md']);
    assert.match(found.get('guide/moved.md')?.text ?? '', /sleep/);
  });

  test('indexes the text of the listed commit, even if another process continues', async (t) => {
    const root = temporaryDirectory(t);
    const repository = makeRepository(join(root, 'repository'));
    const write = (text: string): void => repository.write({ 'a.md': `# A\n\n${text}` });
    write('The heron waits.');
    const data = join(root, 'store');
    const body = { corpus_name: corpus, location: repository.folder, kind: 'git', name };
    let points = Number.POSITIVE_INFINITY;
    const dying = await open({
      data,
      world: realWorld((point) => {
        if (!point.startsWith('sync.')) return;
        points -= 1;
        if (points < 0) throw new Error('the process is dead');
      }),
      onError: () => undefined,
    });
    t.after(() => dying.close());
    await sessionOf(dying).ask('POST /sources', { body });
    await syncNow(dying, name);
    write('The heron flies away, and its text is longer.');
    // The beginning and the page of the listing are committed.
    points = 3;
    const { run_id } = await sessionOf(dying).ask('POST /sources/:name/run', {
      params: { name },
      body: {},
    });
    await until(() => points < 0, { what: 'the death of the process' });
    await dying.close();
    write('The heron has come back, and nobody has indexed it.');
    const pawl = await open({ data });
    t.after(() => pawl.close());
    await untilEnded(pawl, name, run_id);
    write('The heron flies away, and its text is longer.');
    assert.equal((await syncNow(pawl, name)).state, 'succeeded');
    const documents = await documentsOf(pawl, corpus, repository.folder);
    assert.match([...documents.values()].map(({ text }) => text).join(), /flies away/);
  });

  test('runs no hook of the repository, and reads no link that leaves it', async (t) => {
    const { pawl, repository, follow, texts, root } = await setup(t);
    const proof = join(root, 'ran');
    const hooks = join(repository.folder, '.git/hooks');
    for (const hook of ['post-checkout', 'reference-transaction', 'post-update', 'pre-upload']) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
    }
    repository.git('config', 'uploadpack.packObjectsHook', `touch ${proof};`);
    repository.git('config', 'core.fsmonitor', `touch ${proof}`);
    symlinkSync('/etc/passwd', join(repository.folder, 'link.md'));
    repository.git('-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=', 'add', '--all');
    repository.git(
      ...['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor='],
      ...['commit', '--quiet', '--message', 'link'],
    );
    rmSync(proof, { force: true });
    await follow();
    assert.equal(told(await syncNow(pawl, name)), 'succeeded, added 3');
    assert.equal((await texts()).has('link.md'), false);
    assert.equal(existsSync(proof), false);
  });
});

describe('the address of a repository', () => {
  const taken = [
    '/srv/repository',
    'https://git.example/a/b.git',
    'ssh://git@git.example:2222/a.git',
    'git@git.example:a/b.git',
    'git://git.example/a',
  ];
  for (const location of taken) {
    test(`${location} is taken`, () => assert.equal(repositoryOf(location).location, location));
  }
  const refused = [
    '--upload-pack=touch /tmp/x',
    'ext::sh -c touch% /tmp/x',
    'ssh://-oProxyCommand=touch/a',
    '-oProxyCommand=x@host:a',
    'git@-oProxyCommand=x:a',
    'git@host:-a',
    'https://git.example/a --upload-pack=x',
    'https://user:secret@git.example/a',
    'https://git.example/a?x=1',
    'fd::17/foo',
    'ftp://git.example/a',
    'relative/path',
    '/srv/a\nb',
  ];
  for (const location of refused) {
    test(`${JSON.stringify(location)} is refused`, () => {
      assert.throws(() => repositoryOf(location), { code: 'bad_request' });
    });
  }
});
