/** `pawl mcp` as an MCP client sees it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

interface Reply {
  readonly id: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

async function openClient(t: TestContext, flags: readonly string[]) {
  const child = spawn(process.execPath, [program, 'mcp', ...flags], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const waiting = new Map<number, (reply: Reply) => void>();
  createInterface(child.stdout).on('line', (line) => {
    // Only protocol messages may be on stdout.
    const reply: Reply = JSON.parse(line);
    waiting.get(reply.id)?.(reply);
  });
  let last = 0;
  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object = {}): Promise<Reply> => {
    last += 1;
    const id = last;
    const replied = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    return replied;
  };
  const call = async (name: string, given: object) => {
    const { result, error } = await ask('tools/call', { name, arguments: given });
    const [content] = (result?.content ?? []) as { text: string }[];
    const isFailed = error !== undefined || result?.isError === true;
    return { isFailed, text: content?.text ?? error?.message ?? '' };
  };
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a test', version: '1' },
  });
  send({ method: 'notifications/initialized' });
  return { child, ask, call };
}

async function useTools(client: Awaited<ReturnType<typeof openClient>>): Promise<void> {
  const { ask, call } = client;
  const { result } = await ask('tools/list');
  const listed = (result?.tools ?? []) as { name: string }[];
  const names = listed.map(({ name }) => name);
  assert.deepEqual(names.sort(), ['ingest', 'job_status', 'search', 'why']);
  const documents = [{ id: 'note', text: 'The heron waits by the water.' }];
  const submitted = JSON.parse((await call('ingest', { corpus_name: 'a', documents })).text);
  const status = { job_id: submitted.job_id };
  await until(
    async () => JSON.parse((await call('job_status', status)).text).state === 'succeeded',
    { what: 'the job to end' },
  );
  const found = JSON.parse((await call('search', { corpus_name: 'a', query: 'heron' })).text);
  assert.match(found.results[0].text, /heron/);
  const narrowed = async (filter: Record<string, string>) => {
    const asked = { corpus_name: 'a', query: 'heron', filter };
    return JSON.parse((await call('search', asked)).text).results.length;
  };
  assert.equal(await narrowed({ source: 'inline:', updated_from: '2020-01-01' }), 1);
  assert.equal(await narrowed({ updated_before: '2020-01-01' }), 0);
  assert.equal(await narrowed({ host: 'example.com' }), 0);
  const why = await call('why', { corpus_name: 'a', url: 'inline:note' });
  assert.equal(JSON.parse(why.text).verdict, 'searchable');
  const unknown = await call('search', { corpus_name: 'none', query: 'heron' });
  assert.ok(unknown.isFailed);
  assert.match(unknown.text, /corpus_unknown/);
  const wrong = await call('search', { corpus_name: 'a', query: 1 });
  assert.ok(wrong.isFailed);
  const file = await call('ingest', { corpus_name: 'a', urls: ['file:///etc/hostname'] });
  assert.ok(file.isFailed);
}

describe('pawl mcp', () => {
  test('searches, ingests, shows jobs and explains, over a store', async (t) => {
    const client = await openClient(t, ['--data', temporaryDirectory(t)]);
    await useTools(client);
    client.child.stdin.end();
    const [code] = await once(client.child, 'exit');
    assert.equal(code, 0);
  });

  test('does the same over a service', async (t) => {
    const { service } = await openBench(t);
    await useTools(await openClient(t, ['--url', service.address]));
  });
});
