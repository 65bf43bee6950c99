/** Pawl as the official MCP client sees it, over stdin and stdout and over HTTP. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const manifest = new URL('../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };

const toolNames = [
  'ask',
  ...['cancel_job', 'get_corpus', 'get_document', 'ingest', 'job_status', 'list_corpora'],
  ...[
    'list_documents',
    'list_failures',
    'list_jobs',
    'list_sources',
    'read_document',
    'retry_job',
    'run_source',
    'search',
    'why',
  ],
];

type Era = 'legacy' | 'auto';

function makeClient(era: Era = 'legacy'): Client {
  return new Client({ name: 'a test', version: '1' }, { versionNegotiation: { mode: era } });
}

async function overStdio(t: TestContext, flags: () => readonly string[]): Promise<Client> {
  const client = makeClient();
  // Closed before its store is removed.
  t.after(() => client.close());
  const command = { command: process.execPath, args: [program, 'mcp', ...flags()] };
  await client.connect(new StdioClientTransport({ ...command, stderr: 'inherit' }));
  return client;
}

interface Over {
  readonly headers?: Record<string, string>;
  readonly era?: Era;
}

async function overHttp(t: TestContext, address: string, over: Over = {}): Promise<Client> {
  const client = makeClient(over.era);
  const requestInit = { headers: over.headers ?? {} };
  const url = new URL('/mcp', address);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  t.after(() => client.close());
  return client;
}

interface Result {
  readonly isFailed: boolean;
  readonly text: string;
  readonly value: Record<string, unknown>;
}

async function call(client: Client, name: string, given: object): Promise<Result> {
  const result = await client.callTool({ name, arguments: given as Record<string, unknown> });
  const [content] = (result.content ?? []) as { text: string }[];
  return {
    isFailed: result.isError === true,
    text: content?.text ?? '',
    value: (result.structuredContent ?? {}) as Record<string, unknown>,
  };
}

async function ingestHeron(client: Client): Promise<void> {
  const documents = [{ id: 'note', markdown: '# Weir\n\nThe heron waits by the water.' }];
  const submitted = await call(client, 'ingest', { corpus_name: 'a', documents });
  assert.equal(submitted.value.state, 'queued', submitted.text);
  const status = { job_id: submitted.value.job_id };
  await until(async () => (await call(client, 'job_status', status)).value.state === 'succeeded', {
    what: 'the job to end',
  });
}

/** Every tool that reads, on a corpus with one document. */
async function useTools(client: Client): Promise<void> {
  await ingestHeron(client);
  const { value: listed } = await call(client, 'list_corpora', {});
  assert.deepEqual(
    (listed.items as { name: string }[]).map(({ name }) => name),
    ['a'],
  );
  const found = await call(client, 'search', { corpus_name: 'a', query: 'heron' });
  const [hit] = found.value.results as Record<string, string>[];
  assert.match(hit?.text ?? '', /heron/);
  assert.deepEqual(JSON.parse(found.text), found.value);
  for (const noise of ['highlights', 'query_ms', 'blob_key', 'content_hash']) {
    assert.ok(!found.text.includes(noise), noise);
  }
  const narrowed = async (filter: Record<string, string>) => {
    const asked = { corpus_name: 'a', query: 'heron', filter };
    return ((await call(client, 'search', asked)).value.results as unknown[]).length;
  };
  assert.equal(await narrowed({ source: 'inline:', updated_from: '2020-01-01' }), 1);
  assert.equal(await narrowed({ updated_before: '2020-01-01' }), 0);
  const document = { document_id: hit?.document_id };
  assert.equal((await call(client, 'get_document', document)).value.source_url, 'inline:note');
  const read = await call(client, 'read_document', document);
  assert.match((read.value.items as { text: string }[])[0]?.text ?? '', /heron/);
  const why = await call(client, 'why', { corpus_name: 'a', url: 'inline:note' });
  assert.equal(why.value.verdict, 'searchable');
  assert.ok(!why.text.includes('blob_key'));
  // A model may write a number as text.
  const jobs = await call(client, 'list_jobs', { corpus_name: 'a', limit: '5' });
  assert.equal((jobs.value.items as unknown[]).length, 1);
  const wrong = await call(client, 'list_jobs', { corpus_name: 'a', limit: 'five' });
  assert.match(wrong.text, /bad_request.*limit must be integer/);
  assert.deepEqual((await call(client, 'list_failures', {})).value.items, []);
}

/** Failures are results that say what to do. */
async function beRefused(client: Client): Promise<void> {
  const unknown = await call(client, 'search', { corpus_name: 'none', query: 'heron' });
  assert.ok(unknown.isFailed);
  const { code, advice } = JSON.parse(unknown.text);
  assert.equal(code, 'corpus_unknown');
  assert.ok(advice.length > 10);
  const file = { corpus_name: 'a', urls: ['file:///etc/hostname'] };
  assert.match((await call(client, 'ingest', file)).text, /invalid_url/);
  const both = { corpus_name: 'a', urls: ['https://a.example/'], documents: [{ text: 'x' }] };
  assert.match((await call(client, 'ingest', both)).text, /exactly one/);
  const wrong: readonly [string, object][] = [
    ['search', { corpus_name: 'a', query: 1 }],
    ['search', { corpus_name: 'a' }],
    ['get_document', {}],
    ['run_source', { source: 'docs', cause: 'schedule' }],
    ['search', { corpus_name: 'a', query: 'heron', topk: 3 }],
    [
      'ingest',
      { corpus_name: 'a', urls: ['https://a.example/'], webhook_url: 'https://b.example/' },
    ],
  ];
  for (const [name, given] of wrong) {
    const refused = await call(client, name, given);
    assert.ok(refused.isFailed, JSON.stringify(given));
    assert.equal(JSON.parse(refused.text).code, 'bad_request');
  }
}

async function readResources(client: Client): Promise<void> {
  const { resourceTemplates } = await client.listResourceTemplates();
  const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort();
  assert.deepEqual(templates, ['pawl://corpora/{name}', 'pawl://documents/{document_id}']);
  const { resources } = await client.listResources();
  const [corpus] = resources;
  assert.equal(corpus?.uri, 'pawl://corpora/a');
  const read = async (uri: string): Promise<string> => {
    const [content] = (await client.readResource({ uri })).contents as { text: string }[];
    return content?.text ?? '';
  };
  const { items } = JSON.parse(await read(corpus.uri)) as { items: { uri: string }[] };
  assert.match(await read(items[0]?.uri ?? ''), /The heron waits by the water/);
  await assert.rejects(read('pawl://documents/none'), /there is no document none/);
}

interface Described {
  readonly description?: string;
}

async function readDescriptions(client: Client): Promise<void> {
  assert.equal(client.getServerVersion()?.version, version);
  assert.match(client.getInstructions() ?? '', /list_corpora/);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), toolNames);
  for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
    assert.ok((description ?? '').length > 20, name);
    assert.equal(outputSchema?.type, 'object', name);
    assert.equal(typeof annotations?.readOnlyHint, 'boolean', name);
    const fields = Object.entries((inputSchema.properties ?? {}) as Record<string, Described>);
    for (const [field, schema] of fields) assert.ok(schema.description, `${name}: ${field}`);
  }
}

async function runSource(client: Client): Promise<void> {
  const { value } = await call(client, 'list_sources', {});
  const [source] = value.items as { name: string; corpus_name: string }[];
  assert.equal(source?.corpus_name, 'followed');
  const run = await call(client, 'run_source', { source: source.name });
  assert.equal(run.value.cause, 'request', run.text);
  const isSynced = async (): Promise<boolean> => {
    const { value: now } = await call(client, 'list_sources', {});
    return (now.items as { synced_at: string | null }[])[0]?.synced_at !== null;
  };
  await until(isSynced, { what: 'the run to end' });
  const unknown = await call(client, 'run_source', { source: 'none' });
  assert.equal(JSON.parse(unknown.text).code, 'sync_source_unknown');
}

describe('pawl mcp', () => {
  test('serves tools and resources of a store over stdin and stdout', async (t) => {
    const client = await overStdio(t, () => ['--data', temporaryDirectory(t)]);
    await readDescriptions(client);
    await useTools(client);
    await beRefused(client);
    await readResources(client);
  });

  test('does the same for a service', async (t) => {
    const { service } = await openBench(t);
    const client = await overStdio(t, () => ['--url', service.address]);
    await useTools(client);
    await readResources(client);
  });
});

describe('/mcp', () => {
  for (const era of ['legacy', 'auto'] as const) {
    test(`serves tools and resources over streamable HTTP (${era})`, async (t) => {
      const { service } = await openBench(t);
      const client = await overHttp(t, service.address, { era });
      await readDescriptions(client);
      await useTools(client);
      await beRefused(client);
      await readResources(client);
    });
  }

  test('runs a source that a person has added', async (t) => {
    const { service, ask } = await openBench(t);
    const location = temporaryDirectory(t);
    writeFileSync(join(location, 'a.md'), 'The heron waits.');
    const { status } = await ask('POST /sources', { body: { corpus_name: 'followed', location } });
    assert.equal(status, 201);
    await runSource(await overHttp(t, service.address));
  });

  test('asks for a key, by either header, and shows each caller its own corpora', async (t) => {
    const keys = ['key-of-ann-the-first', 'key-of-bob-the-second'] as const;
    const apiKeys = keys.map((key) => `sha256:${createHash('sha256').update(key).digest('hex')}`);
    const { service } = await openBench(t, { keys: { apiKeys } });
    await assert.rejects(overHttp(t, service.address), /401|unauthorized/i);
    const ann = await overHttp(t, service.address, { headers: { 'x-api-key': keys[0] } });
    await ingestHeron(ann);
    const headers = { authorization: `Bearer ${keys[1]}` };
    const bob = await overHttp(t, service.address, { headers });
    assert.deepEqual((await call(bob, 'list_corpora', {})).value.items, []);
    const stolen = await call(bob, 'search', { corpus_name: 'a', query: 'heron' });
    assert.match(stolen.text, /corpus_unknown/);
  });

  test('refuses pages of other sites and methods that it does not have', async (t) => {
    const { service } = await openBench(t, { work: false });
    const url = `${service.address}/mcp`;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    const json = { 'content-type': 'application/json', accept: 'application/json' };
    const foreign = { ...json, origin: 'https://evil.example' };
    const refused = await fetch(url, { method: 'POST', headers: foreign, body });
    assert.equal(refused.status, 403);
    assert.equal((await fetch(url)).status, 405);
    assert.equal((await fetch(url, { method: 'DELETE' })).status, 405);
  });

  test('does not repeat long names, and logs a refused request as what it is', async (t) => {
    const { service, lines } = await openBench(t);
    const long = 'x'.repeat(1_000_000);
    const post = async (message: unknown) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const body = JSON.stringify(message);
      const response = await fetch(`${service.address}/mcp`, { method: 'POST', headers, body });
      return { status: response.status, text: await response.text() };
    };
    const around = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    const search = { name: 'search', arguments: { corpus_name: 'a', query: 'x', [long]: 1 } };
    for (const message of [
      { ...around, params: { name: long, arguments: {} } },
      { ...around, params: { name: 'search', _meta: { progressToken: long }, arguments: {} } },
      { ...around, method: 'resources/read', params: { uri: `pawl://documents/${long}` } },
      { ...around, method: long },
      { ...around, id: long },
      { ...around, params: long },
      { ...around, params: search },
      [{ ...around, id: long }],
      long,
    ]) {
      const { text } = await post(message);
      assert.ok(text.length < 8000 && text.includes('rror'), `${text.length}: ${text}`);
    }
    const before = lines.length;
    assert.equal((await post([1])).status, 400);
    const told = lines.slice(before).filter((line) => line.includes('MCP'));
    assert.deepEqual(
      told.map((line) => JSON.parse(line).level),
      ['info'],
    );
    assert.match(String(told), /"an MCP request was refused: [^"]{10,200}"/);
    const levels = lines.map((line) => JSON.parse(line).level);
    assert.ok(!levels.includes('error') && !levels.includes('warn'), 'nothing went wrong');
  });
});
