/** A corpus that follows a bucket, on a server that checks signatures. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { open } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { bucketKind } from '../../src/source/kind/bucket.ts';
import { sourceConformance } from '../../src/testing/index.ts';
import { bucket, credentials, type S3Server, startS3 } from '../support/s3-server.ts';
import { documentsOf, syncNow, told } from '../support/sync-scene.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const keys = {
  keyId: credentials.accessKeyId,
  secret: credentials.secretAccessKey,
  region: credentials.region,
};

/** The server of tests has no way to delete an object directly. */
interface Removing {
  deleteObject(bucket: string, key: string): void;
}

function write({ objects }: S3Server, texts: Readonly<Record<string, string>>, prefix = ''): void {
  for (const [name, text] of Object.entries(texts)) {
    objects.putObject(bucket, `${prefix}${name}`, Buffer.from(text));
  }
}

function remove({ objects }: S3Server, key: string): void {
  (objects as unknown as Removing).deleteObject(bucket, key);
}

sourceConformance('bucket', async (t) => {
  const server = await startS3(t);
  return {
    kind: bucketKind({ world: realWorld(), keys }),
    location: `s3://${bucket}/docs`,
    options: { endpoint: server.endpoint },
    write: (texts) => write(server, texts, 'docs/'),
    remove: (name) => remove(server, `docs/${name}`),
    lose: () => void server.troubles.push({ on: /list-type/, status: 403, times: 100 }),
  };
});

const corpus = 'docs';
const name = 'bucket';

async function setup(t: TestContext) {
  const server = await startS3(t);
  write(server, {
    'docs/a.md': '# A\n\nThe heron waits.',
    'docs/b c+d.md': '# B\n\nThe kingfisher dives.',
    'docs/empty/': '',
    'other/x.md': '# X\n\nAn owl.',
  });
  const pawl = await open({ data: join(temporaryDirectory(t), 'store'), bucketKeys: keys });
  t.after(() => pawl.close());
  await sessionOf(pawl).ask('POST /sources', {
    body: {
      corpus_name: corpus,
      location: `s3://${bucket}/docs/`,
      endpoint: server.endpoint,
      name,
    },
  });
  const texts = () => documentsOf(pawl, corpus, `s3://${bucket}/docs`);
  const reads = () =>
    server.calls
      .splice(0)
      .filter((call) => !call.includes('list-type'))
      .map((call) => call.split('/docs/')[1]);
  const run = async () => told(await syncNow(pawl, name));
  return { server, pawl, texts, reads, run };
}

describe('a corpus that follows a bucket', () => {
  test('reads what is new or changed, once, and nothing else', async (t) => {
    const { server, texts, reads, run } = await setup(t);
    assert.equal(await run(), 'succeeded, added 2');
    assert.deepEqual(reads().sort(), ['a.md', 'b%20c%2Bd.md']);
    assert.equal(await run(), 'succeeded, unchanged 2');
    assert.deepEqual(reads(), []);
    const before = await texts();
    write(server, { 'docs/b c+d.md': '# B\n\nThe kingfisher rests.' });
    write(server, { 'docs/moved/a.md': '# A\n\nThe heron waits.' });
    remove(server, 'docs/a.md');
    assert.equal(await run(), 'succeeded, changed 1, moved 1');
    assert.deepEqual(reads().sort(), ['b%20c%2Bd.md', 'moved/a.md']);
    const after = await texts();
    assert.deepEqual([...after.keys()].sort(), ['b c+d.md', 'moved/a.md']);
    assert.equal(after.get('moved/a.md')?.id, before.get('a.md')?.id);
    assert.match(after.get('b c+d.md')?.text ?? '', /rests/);
    remove(server, 'docs/b c+d.md');
    assert.equal(await run(), 'succeeded, removed 1, unchanged 1');
  });

  test('reads all pages of a long listing', async (t) => {
    const server = await startS3(t);
    for (let file = 0; file < 2100; file += 1) write(server, { [`many/${file}.md`]: 'x' });
    const kind = bucketKind({ world: realWorld(), keys });
    const place = { location: `s3://${bucket}/`, options: { endpoint: server.endpoint } };
    const from = { signal: t.signal, stamps: async () => new Map<string, string>() };
    const found: string[] = [];
    for await (const page of kind.list(place, { after: '', ...from })) {
      found.push(...page.entries.map(({ key }) => key));
    }
    assert.equal(new Set(found).size, 2100);
    assert.equal(server.calls.length, 3);
  });

  test('fails without a change while the bucket refuses', async (t) => {
    const { server, pawl, texts, run } = await setup(t);
    await run();
    server.troubles.push({ on: /list-type/, status: 403, times: 1 });
    assert.equal(await run(), 'failed');
    const { error, state } = await sessionOf(pawl).ask('GET /sources/:name', { params: { name } });
    assert.deepEqual([state, error?.code], ['failing', 'provider_auth']);
    assert.equal((await texts()).size, 2);
    assert.equal(await run(), 'succeeded, unchanged 2');
  });

  test('needs a key', async (t) => {
    const pawl = await open({ data: join(temporaryDirectory(t), 'store') });
    t.after(() => pawl.close());
    const body = { corpus_name: corpus, location: `s3://${bucket}` };
    await assert.rejects(sessionOf(pawl).ask('POST /sources', { body }), {
      message: /set PAWL_BUCKET_KEY_ID and PAWL_BUCKET_SECRET/,
    });
  });
});
