/** No text and no query is sent to a host that was not configured for its corpus. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { contract, type RouteName } from '../../src/contract/contract.ts';
import { open } from '../../src/index.ts';
import { startCompletionServer, withContent } from '../support/completion-server.ts';
import { watchConnections } from '../support/connection-watch.ts';
import { type OpenaiServer, startOpenaiServer } from '../support/openai-server.ts';
import { openBench } from './api-client.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

const model = 'nomic-embed-text';
const watcher = new URL('../support/connection-watch.ts', import.meta.url);

interface Place extends CommandRunner {
  readonly server: OpenaiServer;
  readonly settings: Readonly<Record<string, string>>;
  /** A preload that records all connection attempts to the file. */
  readonly environment: Readonly<Record<string, string>>;
  readonly file: string;
  /** Runs a command that may only connect to these ports, and returns other attempts. */
  watched(
    args: readonly string[],
    more?: { settings?: Record<string, string>; ports?: readonly number[] },
  ): Promise<{ code: number | null; said: string; refused: string }>;
}

async function setup(t: TestContext): Promise<Place> {
  const server = await startOpenaiServer(t);
  const runner = openRunner(t);
  const settings = { PAWL_EMBEDDER: `openai:${model}`, PAWL_EMBEDDER_URL: server.url };
  runner.write('docs/one.txt', 'The walrus sleeps in a bay of the northern sea.');
  const filled = await runner.run(['ingest', 'docs', '--corpus', 'docs'], {
    environment: settings,
  });
  assert.equal(filled.code, 0, filled.stderr);
  const file = join(runner.folder, 'refused.txt');
  const watching = (own: Record<string, string>, ports: readonly number[]) => ({
    ...own,
    NODE_OPTIONS: `--import ${watcher.href}`,
    WATCHED_PORTS: ports.join(','),
    WATCHED_FILE: file,
  });
  const watched: Place['watched'] = async (args, { settings: own = {}, ports = [] } = {}) => {
    writeFileSync(file, '');
    const environment = watching(own, ports);
    const { code, stdout, stderr } = await runner.run(args, { environment });
    return { code, said: `${stdout}${stderr}`, refused: readFileSync(file, 'utf8') };
  };
  return { ...runner, server, settings, watched, file, environment: watching({}, []) };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

describe('a process without the settings of a corpus', () => {
  const refused = [
    ['search', 'docs', 'where does the walrus sleep'],
    ['ingest', 'more', '--corpus', 'docs'],
  ];
  const quiet = [
    ['why', 'docs', 'docs/one.txt', '--query', 'walrus'],
    ['ingest', 'more', '--corpus', 'docs', '--estimate'],
    ['corpora', 'reembed', 'docs'],
    ['doctor'],
  ];

  test('sends nothing, with any command, and says what to set', async (t) => {
    const place = await setup(t);
    place.write('more/two.txt', 'A second text about the walrus and its bay.');
    const before = place.server.requests.length;
    for (const args of refused) {
      const { code, said, refused: tried } = await place.watched(args);
      assert.equal(tried, '', args.join(' '));
      assert.notEqual(code, 0, args.join(' '));
      assert.match(said, /origin_not_configured|Model address not configured/);
      if (args[0] !== 'search') continue;
      assert.ok(said.includes(`PAWL_EMBEDDER=openai:${model}`), said);
      assert.ok(said.includes(`PAWL_EMBEDDER_URL=${place.server.url}`), said);
    }
    for (const args of quiet) {
      assert.equal((await place.watched(args)).refused, '', args.join(' '));
    }
    assert.equal(place.server.requests.length, before);
  });

  test('sends nothing over MCP', async (t) => {
    const place = await setup(t);
    const call = (id: number, method: string, params: unknown) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    const clientInfo = { name: 'test', version: '1' };
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const search = { corpus_name: 'docs', query: 'walrus' };
    const input =
      call(1, 'initialize', hello) +
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n` +
      call(2, 'tools/call', { name: 'search', arguments: search });
    const { environment } = place;
    const started = place.start(['mcp'], { environment, input, isInputOpen: true });
    await started.seen(/nothing was sent/);
    assert.equal(existsSync(place.file), false);
  });

  test('sends nothing, on any route', async (t) => {
    const place = await setup(t);
    const data = join(place.folder, '.pawl');
    const watch = watchConnections([]);
    t.after(() => watch.end());
    const { service } = await openBench(t, { data });
    watch.ports.add(portOf(service.address));
    const body = JSON.stringify({ corpus_name: 'docs', query: 'walrus' });
    const headers = { 'content-type': 'application/json' };
    const found = await fetch(`${service.address}/search`, { method: 'POST', headers, body });
    assert.equal(found.status, 409);
    const problem = (await found.json()) as { code: string };
    assert.equal(problem.code, 'origin_not_configured');
    const ids = { name: 'docs', id: '1', entity: 'walrus', seq: '1' };
    for (const name of Object.keys(contract) as RouteName[]) {
      const [method = 'GET', path = ''] = name.split(' ');
      if (/\/(stream|events)$/.test(path)) continue;
      const { example } = contract[name] as { example?: Record<string, unknown> };
      const filled = path.replace(/:(\w+)/g, (_, part) => ids[part as 'id'] ?? 'docs');
      const query = method === 'GET' ? '?corpus_name=docs&url=docs/one.txt&query=walrus' : '';
      const given = {
        ...example,
        ...(example?.corpus_name !== undefined && { corpus_name: 'docs' }),
      };
      if (method === 'DELETE') continue;
      const answer = await fetch(`${service.address}${filled}${query}`, {
        method,
        ...(method !== 'GET' && {
          headers,
          body: JSON.stringify(given),
        }),
      });
      await answer.body?.cancel();
    }
    assert.deepEqual(
      watch.refused.filter((each) => !isExample(each)),
      [],
    );
  });
});

/** The contract examples name pages to fetch, which a caller has requested. */
function isExample(what: string): boolean {
  return /example\.(com|org)/.test(what);
}

describe('a process with other settings', () => {
  test('sends nothing to another host until a user accepts it', async (t) => {
    const place = await setup(t);
    const moved = await startOpenaiServer(t);
    const settings = { ...place.settings, PAWL_EMBEDDER_URL: moved.url };
    const search = ['search', 'docs', 'walrus'];
    const ports = [portOf(moved.url), portOf(place.server.url)];
    const first = await place.watched(search, { settings, ports });
    assert.equal(first.code, 1);
    assert.ok(first.said.includes(place.server.url) && first.said.includes(moved.url), first.said);
    assert.equal(moved.requests.length, 0);
    const accept = ['corpora', 'origins', 'docs', '--accept'];
    const unasked = await place.watched(accept, { settings, ports });
    assert.equal(unasked.code, 64, unasked.said);
    assert.equal((await place.watched([...accept, '--yes'], { settings, ports })).code, 0);
    const second = await place.watched(search, { settings, ports });
    assert.equal(second.code, 0, second.said);
    assert.deepEqual(
      moved.requests.flatMap(({ texts }) => texts),
      ['walrus'],
    );
    const back = await place.watched(search, { settings: place.settings, ports });
    assert.equal(back.code, 1);
  });

  test('does not treat the default address as a configured one', async (t) => {
    const place = await setup(t);
    const settings = { PAWL_EMBEDDER: `openai:${model}`, PAWL_EMBEDDER_KEY: 'key' };
    const { code, said, refused } = await place.watched(['search', 'docs', 'walrus'], { settings });
    assert.deepEqual([code, refused], [1, ''], said);
    assert.match(said, /would send it to https:\/\/api\.openai\.com/);
    const { PAWL_EMBEDDER } = settings;
    const keyless = await place.watched(['search', 'docs', 'walrus'], {
      settings: { PAWL_EMBEDDER },
    });
    assert.deepEqual([keyless.code, keyless.refused], [64, ''], keyless.said);
    assert.match(keyless.said, /set PAWL_EMBEDDER_KEY, or PAWL_EMBEDDER_URL/);
  });

  test('moves a corpus to another model at the same address, and searches meanwhile', async (t) => {
    const place = await setup(t);
    const ports = [portOf(place.server.url)];
    const settings = { ...place.settings, PAWL_EMBEDDER: 'openai:next-model' };
    const found = await place.watched(['search', 'docs', 'walrus'], { settings, ports });
    assert.equal(found.code, 0, found.said);
    const turned = await place.watched(['corpora', 'reembed', 'docs'], { settings, ports });
    assert.equal(turned.code, 0, turned.said);
    const again = await place.watched(['search', 'docs', 'walrus'], { settings, ports });
    assert.equal(again.code, 0, again.said);
    assert.equal(place.server.requests.at(-1)?.model, 'next-model');
  });
});

describe('a store from before addresses were recorded', () => {
  test('learns the address from a process that has it configured', async (t) => {
    const place = await setup(t);
    const ports = [portOf(place.server.url)];
    const path = join(place.folder, '.pawl', 'pawl.db');
    assert.ok(existsSync(path));
    const store = new DatabaseSync(path);
    store.exec('DROP TABLE corpus_origins; DELETE FROM migrations WHERE version = 25');
    store.close();
    const search = ['search', 'docs', 'walrus'];
    const keyed = { PAWL_EMBEDDER: `openai:${model}`, PAWL_EMBEDDER_KEY: 'key' };
    for (const settings of [{}, keyed]) {
      const { code, refused } = await place.watched(search, { settings, ports });
      assert.deepEqual([code, refused], [1, '']);
    }
    const { settings } = place;
    assert.equal((await place.watched(search, { settings, ports })).code, 0);
    const { said } = await place.watched(['corpora', 'origins', 'docs'], { settings, ports });
    assert.ok(said.includes(place.server.url), said);
  });
});

describe('the entity model', () => {
  test('is called at the recorded address of the corpus', async (t) => {
    const entities = await startCompletionServer(withContent('{"entities":[]}'));
    const other = await startCompletionServer(withContent('{"entities":[]}'));
    t.after(() => Promise.all([entities.close(), other.close()]));
    const place = openRunner(t);
    const data = join(place.folder, 'store');
    const ingest = async (url: string, text: string) => {
      const extractor = { model: 'finder', url, key: 'key', prices: { input: 1, output: 1 } };
      const pawl = await open({ data, extractor });
      try {
        const job = await pawl.ingest([{ text, id: text }], { corpus: 'names' });
        return (await job.wait()).state;
      } finally {
        await pawl.close();
      }
    };
    assert.equal(await ingest(entities.url, 'Ada met Bob at the harbour.'), 'succeeded');
    const before = other.calls.length;
    assert.equal(await ingest(other.url, 'Bob met Ada in the city.'), 'failed');
    assert.equal(other.calls.length, before);
  });
});
