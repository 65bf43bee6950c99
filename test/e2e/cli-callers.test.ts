/** `pawl callers` and `pawl corpora share`: on a store, and beside a service that runs on it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashed, sha256 } from '../support/access-fixture.ts';
import { belongingsIn, copySqlite } from '../support/stores/open.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';
import { openRunner } from './pawl-process.ts';

const had = belongingsIn('sqlite');
const ann = sha256(had.ann.key).slice(0, 16);
const dave = sha256(had.dave.key).slice(0, 16);

function setup(t: Cleanup) {
  const place = openRunner(t);
  copySqlite(place.folder);
  const on = (...args: string[]): string[] => [...args, '--data', '.'];
  return { ...place, on };
}

interface Shown {
  readonly identities: readonly { kind: string; subject: string }[];
  readonly corpora: readonly string[];
}

test('a running service follows when keys are linked and unlinked', async (t) => {
  const { folder, run, readOne, on } = setup(t);
  const keys = { apiKeys: [hashed(had.ann.key), hashed('ann-key-0002')] };
  const { ask } = await openBench(t, { data: folder, keys, work: false });
  const jobsOf = async (key: string): Promise<number> => {
    const { body } = await ask<{ items: unknown[] }>('GET /jobs', {
      headers: { 'x-api-key': key },
    });
    return body.items.length;
  };
  assert.deepEqual([await jobsOf(had.ann.key), await jobsOf('ann-key-0002')], [2, 0]);
  const linked = await readOne<Shown>(on('callers', 'link', ann, hashed('ann-key-0002')));
  assert.deepEqual(
    linked.identities.map(({ subject }) => subject).sort(),
    [ann, sha256('ann-key-0002').slice(0, 16)].sort(),
  );
  const isLinked = async (): Promise<boolean> => (await jobsOf('ann-key-0002')) === 2;
  await until(isLinked, { what: 'the service to hear of the link' });
  assert.equal((await run(on('callers', 'unlink', ann, hashed(had.ann.key)))).code, 0);
  const isGone = async (): Promise<boolean> => (await jobsOf(had.ann.key)) === 0;
  await until(isGone, { what: 'the service to hear of the unlink' });
  assert.equal(await jobsOf('ann-key-0002'), 2);
});

test('changes that cannot be undone require --yes, and no key is printed', async (t) => {
  const { run, readOne, on } = setup(t);
  const last = await run(on('callers', 'unlink', ann, hashed(had.ann.key)));
  assert.equal(last.code, 64);
  assert.match(last.stderr, /only key of .*--yes/s);
  const asked = await run(on('callers', 'move', ann, dave));
  assert.equal(asked.code, 64);
  assert.match(asked.stderr, /Move everything of .*--yes/s);
  const merge = await run(on('callers', 'link', dave, hashed(had.ann.key)));
  assert.match(merge.stderr, /is merged into .*--yes/s);
  const secret = await run(on('callers', 'link', dave, 'a-secret-key'));
  assert.notEqual(secret.code, 0);
  assert.doesNotMatch(secret.stderr, /a-secret-key/);
  assert.match(secret.stderr, /64 hexadecimal digits/);
  assert.notEqual((await run(on('callers', 'show', 'nobody'))).code, 0);
  assert.deepEqual((await readOne<Shown>(on('callers', 'show', ann))).corpora, ['handbook']);
});

test('one corpus, or everything, is moved to another caller', async (t) => {
  const { run, readOne, on } = setup(t);
  const show = (id: string) => readOne<Shown>(on('callers', 'show', id));
  const one = on('callers', 'move', dave, ann, '--corpus', 'dave-notes', '--yes');
  assert.match((await run(one)).stdout, /moved 1 corpus/);
  assert.deepEqual((await show(ann)).corpora, [`dave-notes@${dave}`, 'handbook']);
  assert.match(
    (await run(on('callers', 'move', dave, 'local', '--yes'))).stdout,
    /moved \d corpora/,
  );
  const { items } = await readOne<{ items: { name: string }[] }>(on('corpora', 'list'));
  assert.deepEqual(
    items.map(({ name }) => name),
    [`handbook@${dave}`],
  );
  // Also the passages that have little to do with the query.
  const search = on('search', 'handbook', 'grey heron', '--near', '--json');
  const { results } = JSON.parse((await run(search)).stdout) as { results: { chunk_id: string }[] };
  assert.deepEqual(
    results.map(({ chunk_id }) => chunk_id),
    had.dave.chunks,
  );
  const listed = await run(on('callers'));
  assert.match(listed.stdout, new RegExp(`${ann}.*\\n`));
});

test('a local corpus is shared, shown as shared, and unshared', async (t) => {
  const { run, write, readOne, on } = setup(t);
  write('docs/heron.md', '# Heron\n\nThe grey heron waits in the reeds.\n');
  assert.equal((await run(on('ingest', 'docs', '--corpus', 'birds'))).code, 0);
  const shared = await run(on('corpora', 'share', 'birds', 'acct_carol', '--write'));
  assert.match(shared.stdout, /acct_carol may read and write birds/);
  assert.match(
    (await run(on('corpora', 'show', 'birds'))).stdout,
    /shared with\s+acct_carol \(reads and writes\)/,
  );
  const { shares } = await readOne<{ shares: { created_at: string }[] }>(
    on('corpora', 'show', 'birds'),
  );
  const created_at = shares[0]?.created_at;
  const share = { caller_id: 'acct_carol', name: null, access: 'write', created_at };
  assert.deepEqual(shares, [share]);
  assert.match((await run(on('corpora', 'unshare', 'birds', 'acct_carol'))).stdout, /no longer/);
  assert.match(
    (await run(on('corpora', 'unshare', 'birds', 'acct_carol'))).stdout,
    /was not shared/,
  );
});

test('a caller is shown with its name once', async (t) => {
  const { folder, run, on } = setup(t);
  const keys = { apiKeys: [`ines=${hashed('ines-key-0001')}`] };
  const { ask } = await openBench(t, { data: folder, keys, work: false });
  await ask('GET /jobs', { headers: { 'x-api-key': 'ines-key-0001' } });
  const { stdout } = await run(on('callers', 'show', 'ines'));
  assert.equal(stdout.match(/^name +ines$/gm)?.length, 1, stdout);
});
