/** One contract, four ways in: HTTP, the library, the CLI and MCP return the same JSON. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Failure } from '../../src/kernel/failure/failure.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { withoutNoise } from '../../src/mcp/noise.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type Asking, type Bench, openBench } from './api-client.ts';
import { changes, type Operation, reads, refusals, type Scene } from './api-ways-table.ts';
import { openRunner } from './pawl-process.ts';

const batchProviders = { openai: { url: 'http://127.0.0.1:9', key: 'key' } };
const ways = ['http', 'library', 'cli', 'mcp'] as const;
type Way = (typeof ways)[number];

/** Fills a store, and then serves it without working on it, so that nothing moves by itself. */
async function setup(t: TestContext) {
  const place = openRunner(t);
  const data = temporaryDirectory(t);
  const filling = await openBench(t, { data, batchProviders });
  const filled = new Map<string, Partial<Scene>>();
  for (const name of ['read', ...ways]) filled.set(name, await fill(filling, `own-${name}`));
  await filling.service.close();
  const bench = await openBench(t, { data, batchProviders, work: false });
  const taskFile = place.write('task.json', JSON.stringify(taskBody));
  const providersFile = place.write('providers.json', JSON.stringify(batchProviders));
  const scenes = new Map<string, Scene>();
  for (const [name, part] of filled) {
    const documents = [{ id: 'later', text: 'An otter swims.' }];
    const queuedId = await bench.submit({ corpus_name: part.corpus, documents });
    const { body } = await bench.ask('POST /batch/tasks', { body: taskBody });
    const open = { queuedId, taskId: String(body.task_id), taskFile };
    scenes.set(name, { ...part, ...open } as Scene);
  }
  const client = new Client({ name: 'a test', version: '1' });
  const url = new URL('/mcp', bench.service.address);
  await client.connect(new StreamableHTTPClientTransport(url));
  t.after(() => client.close());
  const environment = { PAWL_LOG: 'error', PAWL_BATCH_PROVIDERS: providersFile };
  return {
    data,
    environment,
    bench,
    place,
    client,
    scene: (name: string) => scenes.get(name) as Scene,
  };
}

const taskBody = {
  task_type: 'completion',
  models: ['gpt-4o-mini'],
  requests: [{ custom_id: 'one', input: 'Where?' }],
};

/** A corpus with one searchable and one failed document. */
async function fill({ ask, submit, ended }: Bench, corpus: string): Promise<Partial<Scene>> {
  const documents = [
    { id: 'note', markdown: '# Weir\n\nAda Lovelace saw a heron at the weir in London.' },
    { id: 'empty', text: '' },
  ];
  const jobId = await submit({ corpus_name: corpus, documents });
  await ended(jobId);
  const { body: job } = await ask<{ items: Record<string, unknown>[] }>('GET /jobs/:id/items', {
    params: { id: jobId },
  });
  const [note, empty] = job.items;
  return {
    corpus,
    jobId,
    documentId: String(note?.document_id),
    failedItem: String(empty?.item_id),
  };
}

type Fixture = Awaited<ReturnType<typeof setup>>;
type Body = Record<string, unknown>;

/** The JSON of one way, or undefined if the way does not have the operation. */
async function call(fixture: Fixture, way: Way, operation: Operation, scene: Scene) {
  const { route, asking, cli, mcp } = operation;
  const request = (asking?.(scene) ?? {}) as Asking;
  if (way === 'http') return (await fixture.bench.ask<Body>(route, request)).body;
  if (way === 'library') {
    const { ask } = sessionOf(fixture.bench.service.pawl) as unknown as {
      readonly ask: (name: string, asking: object) => Promise<Body>;
    };
    return ask(route, request).catch(({ code }: Failure): Body => ({ code }));
  }
  if (way === 'cli')
    return typeof cli === 'string' ? undefined : command(fixture, operation, cli(scene));
  if (typeof mcp === 'string') return undefined;
  const result = await fixture.client.callTool({ name: mcp[0], arguments: mcp[1](scene) });
  const [content] = result.content as { text: string }[];
  return JSON.parse(content?.text ?? '') as Body;
}

async function command(
  { place, data, environment }: Fixture,
  { isLines }: Operation,
  args: readonly string[],
): Promise<Body> {
  const { stdout, stderr, code } = await place.run([...args, '--data', data, '--json'], {
    environment,
  });
  if (code !== 0)
    return {
      code: /\((\w+)\)|"code":"(\w+)"/
        .exec(stderr + stdout)
        ?.slice(1)
        .find(Boolean),
    };
  const lines = stdout
    .trim()
    .split('\n')
    .map((line): Body => JSON.parse(line));
  if (!isLines) return lines[0] as Body;
  return { items: lines };
}

/** These differ between two calls of the same way. */
const volatile = new Set(['query_ms', 'eta_seconds', 'duration_seconds', 'beat_at', 'uptime_ms']);
/** These differ between two corpora with the same content. */
const identities = /^(?:job|item|document|chunk|task|delivery)_id$|^(?:last_|newest_)?seq$/;

function comparable(value: unknown, isOwn: boolean): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, each: unknown) => {
      if (volatile.has(name) || (isOwn && identities.test(name))) return undefined;
      if (!isOwn || typeof each !== 'string') return each;
      return each.replace(/^own-\w+/, 'own').replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, 'a time');
    }),
  );
}

function assertSame(way: Way, operation: Operation, answers: { given: Body; http: Body }): void {
  const isOwn = changes.includes(operation);
  const shaped = operation.isLines && way === 'cli' ? { items: answers.http.items } : answers.http;
  const expected = way === 'mcp' ? withoutNoise(shaped) : shaped;
  assert.deepEqual(
    comparable(answers.given, isOwn),
    comparable(expected, isOwn),
    `${operation.route} by ${way}`,
  );
}

describe('the same operation', () => {
  test('returns the same JSON by HTTP, library, CLI and MCP', async (t) => {
    const fixture = await setup(t);
    const called = { http: 0, library: 0, cli: 0, mcp: 0 };
    for (const operation of [...reads, ...changes]) {
      const isOwn = changes.includes(operation);
      const sceneOf = (way: Way): Scene => fixture.scene(isOwn ? way : 'read');
      const http = await call(fixture, 'http', operation, sceneOf('http'));
      assert.ok(http && !('request_id' in http), `${operation.route}: ${JSON.stringify(http)}`);
      called.http += 1;
      for (const way of ways.slice(1)) {
        const given = await call(fixture, way, operation, sceneOf(way));
        if (given) {
          assertSame(way, operation, { given, http });
          called[way] += 1;
        } else if (isOwn) {
          // The corpora of all ways stay in the same state.
          await call(fixture, 'http', operation, sceneOf(way));
        }
      }
    }
    t.diagnostic(JSON.stringify(called));
    assert.ok(called.http >= 30 && called.library === called.http, JSON.stringify(called));
    assert.ok(called.cli >= 20 && called.mcp >= 13, JSON.stringify(called));
    for (const operation of refusals) {
      const scene = fixture.scene('read');
      const { code } = (await call(fixture, 'http', operation, scene)) as Body;
      assert.ok(code, operation.route);
      for (const way of ways.slice(1)) {
        const given = await call(fixture, way, operation, scene);
        if (given) assert.equal(given.code, code, `${operation.route} by ${way}`);
      }
    }
  });
});
