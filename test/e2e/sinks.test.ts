/** Pawl with Qdrant beside its store, as a library and as a service. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startService } from '../../src/app/role/service.ts';
import { startRole } from '../../src/app/role/worker-service.ts';
import { open, type Pawl } from '../../src/index.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { BoltServer } from '../support/neo4j/bolt-server.ts';
import { startPostgres } from '../support/postgres.ts';
import { QdrantServer, refused } from '../support/qdrant/qdrant-server.ts';
import { bucket, credentials, startS3 } from '../support/s3-server.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openRunner } from './pawl-process.ts';

const corpus = 'handbook';
const documents = [
  { id: 'health', title: 'Health', text: 'A physician examines all employees each year.' },
  { id: 'travel', title: 'Travel', text: 'Flights are booked by the office in advance.' },
  { id: 'garden', title: 'Garden', text: 'Roses are pruned in early spring.' },
];

async function setup(t: Cleanup) {
  const server = await new QdrantServer().start(t);
  const data = temporaryDirectory(t);
  const errors: string[] = [];
  const openPawl = async (isDelivering = true) => {
    const sinks = isDelivering ? { qdrant: { url: server.url, key: server.key } } : undefined;
    const onError = (what: string, error: unknown) => errors.push(`${what}: ${error}`);
    const pawl = await open({ data, sinks, onError });
    t.after(() => pawl.close());
    return pawl;
  };
  t.after(() => assert.deepEqual(server.wrongs, []));
  return { server, data, openPawl, errors };
}

/** Until Qdrant has been filled for the first time, the store answers. */
async function untilSearched(pawl: Pawl, server: QdrantServer): Promise<void> {
  const isSearched = async () => {
    await pawl.search(corpus, 'doctor', { mode: 'vector' });
    return server.http.count(/query$/) > 0;
  };
  await until(isSearched, { what: 'Qdrant to be searched' });
}

test('vectors are stored in Qdrant, searched there, replaced and deleted', async (t) => {
  const { server, openPawl, errors } = await setup(t);
  server.key = 'secret-of-qdrant';
  const pawl = await openPawl();
  await (await pawl.ingest(documents, { corpus })).wait();
  assert.equal(server.points.length, 3);
  await untilSearched(pawl, server);
  const titles = async (query: string, filter = {}) =>
    (await pawl.search(corpus, query, { mode: 'vector', filter, near: true })).map(
      ({ title }) => title,
    );
  assert.equal((await titles('doctor for the staff'))[0], 'Health');
  assert.deepEqual(await titles('doctor', { title: 'gard' }), ['Garden']);
  const [health] = await pawl.search(corpus, 'doctor', { mode: 'vector', topK: 1 });
  const changed = [{ id: 'travel', title: 'Trains', text: 'Carriages leave on Mondays.' }];
  await (await pawl.ingest(changed, { corpus })).wait();
  await pawl.deleteDocument(health?.documentId ?? '');
  assert.deepEqual((await titles('doctor flights carriages')).sort(), ['Garden', 'Trains']);
  await until(() => server.points.length === 2, { what: 'the deleted document to be gone there' });
  assert.ok(server.points.every(({ payload }) => payload.current === true));
  await pawl.deleteCorpus(corpus);
  await until(() => server.collections.size === 0, { what: 'the collection to be gone' });
  assert.deepEqual(errors, []);
});

test('the embedding service searches where other processes write', async (t) => {
  const { server } = await setup(t);
  const postgres = await startPostgres({ durable: false });
  const databaseUrl = await postgres.createDatabase();
  const sinks = { qdrant: { url: server.url, key: server.key } };
  const pawl = await open({ data: temporaryDirectory(t), database: databaseUrl, sinks });
  await (await pawl.ingest(documents, { corpus })).wait();
  await untilSearched(pawl, server);
  const role = await startRole({
    ...{ role: 'embedding', host: '127.0.0.1', port: 0, database: databaseUrl, sinks },
    internalKey: 'an-internal-key-of-24-or-more',
    orchestratorUrl: 'http://127.0.0.1:9',
    addresses: { orch: undefined, scrape: undefined, embed: undefined },
    log: { level: 'silent', write: () => undefined },
  });
  t.after(async () => {
    await Promise.all([role.close(), pawl.close()]);
    await postgres.stop();
  });
  const asked = server.http.count(/query$/);
  const response = await fetch(`${role.address}/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ corpus_name: corpus, query: 'doctor', mode: 'vector' }),
  });
  const { results } = (await response.json()) as { results: { title: string }[] };
  assert.equal(results[0]?.title, 'Health');
  assert.ok(server.http.count(/query$/) > asked);
});

test('Qdrant and the store return the same hits', async (t) => {
  const { server, openPawl } = await setup(t);
  const many = Array.from({ length: 60 }, (_, n) => ({
    id: `n${n}`,
    title: `Note ${n}`,
    text: `Note ${n} on ${documents[n % 3]?.title}: number ${n} pays ${n % 5} invoices.`,
  }));
  const pawl = await openPawl();
  await (await pawl.ingest(many, { corpus })).wait();
  await untilSearched(pawl, server);
  const own = await openPawl(false);
  for (const query of ['invoices on health', 'garden number 7', 'travel']) {
    const [there, here] = await Promise.all(
      [pawl, own].map(async (each) => {
        const asked = { mode: 'vector', topK: 100, explain: true } as const;
        const hits = await each.search(corpus, query, asked);
        return new Map(hits.map(({ chunkId, explanation }) => [chunkId, explanation?.parts[0]]));
      }),
    );
    assert.equal(there?.size, here?.size);
    for (const [id, part] of here ?? []) {
      const difference = (there?.get(id)?.score ?? Number.NaN) - (part?.score ?? 0);
      assert.ok(Math.abs(difference) < 1e-5, `${id}: ${difference}`);
    }
  }
});

test('a document is not done, and its old text is found, until Qdrant has it', async (t) => {
  const { server, openPawl } = await setup(t);
  const pawl = await openPawl();
  await (await pawl.ingest(documents, { corpus })).wait();
  server.http.trouble({ on: /^PUT .*points$/, reply: refused(400, 'no'), times: 1 });
  const changed = [{ id: 'travel', title: 'Trains', text: 'Carriages leave on Mondays.' }];
  const job = await pawl.ingest(changed, { corpus });
  await job.wait();
  const [cause] = await pawl.causes({ corpus });
  assert.equal(cause?.cause, 'qdrant_refused');
  const titles = (await pawl.search(corpus, 'flights carriages')).map(({ title }) => title);
  assert.ok(titles.includes('Travel') && !titles.includes('Trains'));
  await pawl.retryItems({ all: true, corpus });
  await job.wait();
  assert.equal((await pawl.search(corpus, 'carriages'))[0]?.title, 'Trains');
});

test('a service reports its sinks, and is not ready without them', async (t) => {
  const server = await new QdrantServer().start(t);
  const service = await startService({
    ...{ data: temporaryDirectory(t), host: '127.0.0.1', port: 0 },
    sinks: { qdrant: { url: server.url } },
    log: { level: 'silent', write: () => undefined },
  });
  t.after(() => service.close());
  const ready = async () => {
    const response = await fetch(`${service.address}/readyz`);
    const { checks } = (await response.json()) as { checks: { qdrant?: { ok: boolean } } };
    return [response.status, checks.qdrant?.ok];
  };
  assert.deepEqual(await ready(), [200, true]);
  await server.http.close();
  assert.deepEqual(await ready(), [503, false]);
});

test('large fetched bytes are in a bucket, for processes with different folders', async (t) => {
  const server = await startS3(t);
  const { accessKeyId: keyId, secretAccessKey: secret, region } = credentials;
  const url = `s3://${bucket}/handbook/`;
  const blobs = { url, endpoint: server.endpoint, region, keyId, secret };
  const data = temporaryDirectory(t);
  const pawl = await open({ data, blobs });
  t.after(() => pawl.close());
  const large = join(temporaryDirectory(t), 'large.md');
  // Too much for a row even when packed.
  const digits = randomBytes(limits.document.rowBytesMax).toString('hex');
  writeFileSync(large, `# Welcome\n\nWelcome aboard.\n\n${digits.replaceAll(/.{60}/g, '$& ')}`);
  await (await pawl.ingest([large], { corpus })).wait();
  assert.ok((await pawl.search(corpus, 'welcome')).length > 0);
  const names = server.objects.listObjects(bucket).objects.map(({ key }) => key);
  assert.equal(names.length, 1);
  assert.match(names[0] ?? '', /^handbook\/[0-9a-f]{2}\/[0-9a-f]{64}$/);
  assert.equal(existsSync(join(data, 'blobs')), false);
  await assert.rejects(open({ data: temporaryDirectory(t), blobs: { url } }), {
    code: 'usage_error',
  });
});

test('pawl doctor checks the bucket and the sinks', async (t) => {
  const qdrant = await new QdrantServer().start(t);
  const s3 = await startS3(t);
  const settings = {
    PAWL_QDRANT_URL: qdrant.url,
    PAWL_BLOB_URL: `s3://${bucket}`,
    PAWL_BLOB_ENDPOINT: s3.endpoint,
    PAWL_BLOB_REGION: credentials.region,
    PAWL_BLOB_KEY_ID: credentials.accessKeyId,
    PAWL_BLOB_SECRET: credentials.secretAccessKey,
  };
  const runner = openRunner(t);
  const doctor = async (environment: Record<string, string>) => {
    const { stdout } = await runner.run(['doctor', '--json'], { environment });
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { check: string; verdict: string });
    return findings
      .filter(({ check }) => ['blobs', 'qdrant'].includes(check))
      .map(({ check, verdict }) => `${check} ${verdict}`);
  };
  assert.deepEqual(await doctor(settings), ['blobs ok', 'qdrant ok']);
  await qdrant.http.close();
  const wrong = { ...settings, PAWL_BLOB_SECRET: 'another' };
  assert.deepEqual(await doctor(wrong), ['blobs fail', 'qdrant fail']);
});

test('entities are stored in Neo4j, replaced and deleted with their documents', async (t) => {
  const server = await new BoltServer().start(t);
  server.password = 'secret-of-neo4j';
  const errors: string[] = [];
  const pawl = await open({
    data: temporaryDirectory(t),
    sinks: { neo4j: { url: server.url, user: 'neo4j', password: server.password } },
    onError: (what, error) => errors.push(`${what}: ${error}`),
  });
  t.after(() => pawl.close());
  const story = (place: string) => ({
    id: 'story',
    text: `Ada Lovelace met Charles Babbage in ${place} on 5 June 1833.`,
  });
  await (await pawl.ingest([story('London')], { corpus })).wait();
  const names = () => [...server.graph.entities.values()].map(({ name }) => name).sort();
  const listed = async () => (await pawl.entities(corpus).all()).map(({ name }) => name).sort();
  assert.ok(names().includes('London'));
  assert.deepEqual(names(), await listed());
  await (await pawl.ingest([story('Paris')], { corpus })).wait();
  assert.deepEqual(names(), await listed());
  assert.ok(!names().includes('London'));
  const [document] = await pawl.documents(corpus).all();
  await pawl.deleteDocument(document?.documentId ?? '');
  await until(() => server.graph.documents.size === 0, { what: 'the document to be gone' });
  assert.deepEqual(names(), []);
  assert.deepEqual(errors, []);
});
