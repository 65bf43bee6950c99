import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setupSession } from '../../../test/support/session-fixture.ts';
import type { Cleanup } from '../../../test/support/temporary.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';

async function setup(t: Cleanup) {
  const bundle = await setupSession(t);
  const { staging } = bundle.session;
  const files = (): string[] => {
    const folder = join(bundle.directory, 'attempts');
    const name = readdirSync(folder).find((each) => each.includes('staging')) ?? '';
    return readdirSync(join(folder, name));
  };
  const names = (caller = 'me') => staging.list(caller).map(({ name }) => name);
  return { ...bundle, staging, files, names };
}

const hasCode = (code: string) => (error: unknown) =>
  error instanceof Failure && error.code === code;

test('an uploaded file is stored unchanged, readable only by its owner', async (t) => {
  const { staging, upload } = await setup(t);
  const id = await upload('a.txt', 'x'.repeat(5000));
  assert.equal(readFileSync(staging.pathOf(id), 'utf8'), 'x'.repeat(5000));
  assert.equal(statSync(staging.pathOf(id)).mode & 0o777, 0o600);
  assert.equal(staging.list('me')[0]?.bytes, 5000);
});

test('an interrupted upload leaves nothing, neither in the list nor on disk', async (t) => {
  const { staging, upload, files, names } = await setup(t);
  await upload('whole.txt', 'whole');
  const pieces = async function* () {
    yield Buffer.from('half');
    throw new Error('the connection was lost');
  };
  const sent = staging.stageUpload('me', { name: 'half.txt', pieces: pieces() });
  await assert.rejects(sent, /connection was lost/);
  assert.deepEqual(names(), ['whole.txt']);
  assert.equal(files().length, 1);
});

test('a file above the limit is refused within one chunk, and leaves nothing', async (t) => {
  const { staging, files, names } = await setup(t);
  let sent = 0;
  const piece = Buffer.alloc(1024 * 1024);
  const pieces = async function* () {
    for (;;) {
      sent += piece.length;
      yield piece;
    }
  };
  const taken = staging.stageUpload('me', { name: 'huge.txt', pieces: pieces() });
  await assert.rejects(taken, hasCode('source_too_large'));
  assert.ok(sent <= limits.document.sourceBytesMax + piece.length);
  assert.deepEqual(names(), []);
  assert.deepEqual(files(), []);
});

const givenNames: readonly [given: string, kept: string][] = [
  ['notes/a.txt', 'notes/a.txt'],
  ['../../etc/passwd', 'etc/passwd'],
  ['C:\\notes\\a.txt', 'C:/notes/a.txt'],
  ['/a\u0000b\u202ec.txt', 'abc.txt'],
  [`${'x'.repeat(600)}.txt`, `${'x'.repeat(496)}.txt`],
];
for (const [given, kept] of givenNames) {
  test(`a file called ${JSON.stringify(given).slice(0, 30)} cannot leave its folder`, async (t) => {
    const { upload, names } = await setup(t);
    await upload(given, 'text');
    assert.deepEqual(names(), [kept]);
  });
}

test('a file without a name is refused', async (t) => {
  const { upload } = await setup(t);
  await assert.rejects(upload('..', 'text'), hasCode('bad_request'));
});

test('staging again under the same name replaces the first', async (t) => {
  const { staging, upload, files } = await setup(t);
  await upload('a.txt', 'old');
  const id = await upload('a.txt', 'new');
  assert.deepEqual(
    staging.list('me').map((source) => source.id),
    [id],
  );
  assert.deepEqual(files(), [id]);
});

test('a path must be an existing file, and an address a complete one', async (t) => {
  const { staging, file, directory, names } = await setup(t);
  const path = file('a.txt', 'text');
  await staging.stagePath('me', path);
  await staging.stageUrl('me', 'HTTP://Example.com:80/a?utm_source=x#top');
  assert.deepEqual(names(), [path, 'http://example.com/a']);
  const relative = staging.stagePath('me', 'a.txt');
  await assert.rejects(relative, hasCode('bad_request'));
  const absent = staging.stagePath('me', join(directory, 'none.txt'));
  await assert.rejects(absent, hasCode('source_missing'));
  await assert.rejects(staging.stagePath('me', directory), hasCode('source_unreadable'));
  await assert.rejects(staging.stageUrl('me', 'ftp://example.com/'), hasCode('invalid_url'));
});

test('a source can be removed by its own caller, and by nobody else', async (t) => {
  const { session, upload, names, files } = await setup(t);
  const id = await upload('a.txt', 'text');
  await assert.rejects(session.remove('other', [id]), hasCode('source_unknown'));
  assert.equal(await session.remove('me', [id]), 1);
  assert.deepEqual(names(), []);
  assert.deepEqual(files(), []);
  await assert.rejects(session.remove('me', [id]), hasCode('source_unknown'));
});

test('sources above the limit are not staged', async (t) => {
  const { staging } = await setup(t);
  for (let count = 0; count < limits.attempt.sourcesMax; count += 1) {
    await staging.stageUrl('me', `http://example.com/${count}`);
  }
  const beyond = staging.stageUrl('me', 'http://example.com/beyond');
  await assert.rejects(beyond, hasCode('too_many_sources'));
  await staging.stageUrl('other', 'http://example.com/other');
});
