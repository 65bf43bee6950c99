/** `pawl backup` and `pawl restore`: one file, consistent while Pawl works, checked on restore. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { openBench } from './api-client.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

const word = (index: number) => `heron${index}`;

/** A store with blobs: the service keeps the bytes of uploaded files. */
async function setup(t: TestContext, { files = 3 } = {}) {
  const place = openRunner(t);
  const data = temporaryDirectory(t);
  const bench = await openBench(t, { data });
  for (let index = 0; index < files; index += 1) {
    place.write(`docs/${index}.md`, `# Bird ${index}\n\nThe ${word(index)} waits in the reeds.\n`);
  }
  const upload = () =>
    place.run(['ingest', 'docs', '-c', 'birds', '-q', '--url', bench.service.address]);
  return { place, data, bench, upload };
}

async function assertWhole(data: string): Promise<number> {
  const pawl = await open({ data, work: false });
  try {
    const name = 'birds';
    const { items } = await sessionOf(pawl).ask('GET /corpora/:name/documents', {
      params: { name },
      query: { limit: 200 },
    });
    for (const { source_url: url } of items) {
      const query = { corpus_name: name, url };
      const { verdict, provenance } = await sessionOf(pawl).ask('GET /why', { query });
      assert.equal(verdict, 'searchable', url);
      const key = provenance?.blob_key ?? '';
      assert.ok(existsSync(join(data, 'blobs', key.slice(0, 2), key)), `the bytes of ${url}`);
    }
    return items.length;
  } finally {
    await pawl.close();
  }
}

describe('pawl backup', { concurrency: 2 }, () => {
  test('and restore give the same documents, bytes and results', async (t) => {
    const { place, data, upload } = await setup(t);
    assert.equal((await upload()).code, 0);
    const made = await place.run(['backup', 'all.tar', '--data', data]);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /all\.tar: .*, the database and 3 blobs/);
    const restored = await place.run(['restore', 'all.tar', '--data', 'again']);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /restored .*again of .*: the database and 3 blobs, checked/);
    assert.equal(await assertWhole(join(place.folder, 'again')), 3);
    const args = ['search', 'birds', word(1), '--json', '--data'];
    const [before, after] = await Promise.all([
      place.run([...args, data]),
      place.run([...args, 'again']),
    ]);
    assert.deepEqual(JSON.parse(after.stdout).results, JSON.parse(before.stdout).results);
    assert.deepEqual(leftovers(place), []);
  });

  test('is consistent while documents are being ingested', async (t) => {
    const { place, data, upload } = await setup(t, { files: 120 });
    const ingested = upload();
    let round = 0;
    let isDone = false;
    void ingested.then(() => {
      isDone = true;
    });
    // As often as there is time during the ingestion, and once after it.
    for (let isLast = false; !isLast; round += 1) {
      isLast = isDone;
      const made = await place.run(['backup', `${round}.tar`, '--data', data]);
      assert.equal(made.code, 0, made.stderr);
    }
    assert.equal((await ingested).code, 0);
    const found: number[] = [];
    for (const each of [0, round - 1]) {
      const restored = await place.run(['restore', `${each}.tar`, '--data', `from-${each}`]);
      assert.equal(restored.code, 0, restored.stderr);
      found.push(await assertWhole(join(place.folder, `from-${each}`)).catch(noCorpus));
    }
    assert.equal(found.at(-1), 120);
  });

  test('never overwrites a file or a store', async (t) => {
    const { place, data, upload } = await setup(t);
    await upload();
    await place.run(['backup', 'all.tar', '--data', data]);
    const bytes = readFileSync(join(place.folder, 'all.tar'));
    const second = await place.run(['backup', 'all.tar', '--data', data]);
    assert.equal(second.code, 64);
    assert.match(second.stderr, /exists already .*\nName a new file/);
    assert.deepEqual(readFileSync(join(place.folder, 'all.tar')), bytes);
    const onto = await place.run(['restore', 'all.tar', '--data', data, '--yes']);
    assert.equal(onto.code, 64);
    const into = await place.run(['restore', 'all.tar', '--data', data]);
    assert.equal(into.code, 64);
    assert.match(into.stderr, /is not empty .*\n.* never overwrites a store/);
  });

  const damages: readonly [title: string, damage: (path: string) => void][] = [
    ['was cut off', (path) => truncateSync(path, readFileSync(path).length - 3000)],
    ['lost its end', (path) => truncateSync(path, 512)],
    ['has a changed byte in a blob', (path) => flip(path, 'waits in the reeds')],
    ['has a changed byte in the database', (path) => flip(path, 'CREATE TABLE jobs')],
    ['has a changed name', (path) => flip(path, 'blobs/')],
    ['is something else', (path) => writeFileSync(path, 'The heron.'.repeat(200))],
  ];
  for (const [title, damage] of damages) {
    test(`that ${title} is refused, and leaves nothing`, async (t) => {
      const { place, data, upload } = await setup(t);
      await upload();
      await place.run(['backup', 'all.tar', '--data', data]);
      damage(join(place.folder, 'all.tar'));
      const { code, stderr } = await place.run(['restore', 'all.tar', '--data', 'again']);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /the backup is damaged: .*\nUse another backup/);
      assert.equal(existsSync(join(place.folder, 'again')), false);
      assert.deepEqual(leftovers(place), []);
    });
  }

  test('of Postgres is left to Postgres', async (t) => {
    const place = openRunner(t);
    const environment = { PAWL_DATABASE_URL: 'postgres://127.0.0.1:9/none' };
    for (const command of ['backup', 'restore']) {
      const { code, stderr } = await place.run([command, 'all.tar'], { environment });
      assert.equal(code, 64);
      assert.match(stderr, /on Postgres.*\nUse `pg_dump`/);
    }
  });

  test('of no store is refused', async (t) => {
    const { code, stderr } = await openRunner(t).run(['backup', 'all.tar']);
    assert.equal(code, 1);
    assert.match(stderr, /there is no store/);
  });
});

/** The first backup may have been made before the first document was accepted. */
function noCorpus(error: { readonly code?: string }): number {
  if (error.code === 'corpus_unknown') return 0;
  throw error;
}

function flip(path: string, text: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(text);
  assert.ok(at >= 0, `${text} is in the backup`);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

function leftovers({ folder }: CommandRunner): string[] {
  return readdirSync(folder).filter((name) => name.includes('.part'));
}
