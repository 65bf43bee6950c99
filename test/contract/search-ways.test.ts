/**
 * Every field of a search, by every way in, on every store: one table of requests with what they
 * find. The command line starts a process for each request, and so runs on one store only.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { BodyOf } from '../../src/contract/contract.ts';
import type { Found } from '../../src/contract/schema/schema.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { withoutNoise } from '../../src/mcp/noise.ts';
import { readSinkPlace } from '../../src/store/delivery/sinks.ts';
import { openBench } from '../e2e/api-client.ts';
import { openRunner } from '../e2e/pawl-process.ts';
import { type Postgres, startPostgres, whyNoPgvector } from '../support/postgres.ts';
import { openQdrantPlace } from '../support/qdrant/qdrant-place.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const manual = Array.from(
  { length: 6 },
  (_, n) =>
    `## Valve ${n}\n\nThe heron gate ${n} of pump ${n * 7} is oiled. ${`Part ${n}. `.repeat(60)}`,
).join('\n\n');
const notes = [
  { id: 'a', text: 'The heron stands in the reeds.', metadata: { team: 'ops', year: 2024 } },
  { id: 'b', text: 'A heron eats fish near the weir.', metadata: { team: 'ops', year: 2026 } },
  { id: 'c', text: 'Owls hunt at night in the barn.', metadata: { team: 'dev', tags: ['x', 'y'] } },
  { id: 'manual', title: 'Manual', markdown: `# Manual\n\n${manual}` },
];
const other = [{ id: 'd', text: 'One heron lives in the other corpus.' }];

type Body = BodyOf<'POST /search'>;

interface Case {
  readonly what: string;
  readonly body: Omit<Body, 'corpus_name' | 'query'> & { readonly query?: string };
  /** Undefined: the command has no such flag. */
  readonly flags: readonly string[] | undefined;
  check(found: Found): void;
}

const idsOf = ({ results }: Found): string[] =>
  results.map(({ source_url }) => source_url.replace('inline:', ''));
const unique = (found: Found): string => [...new Set(idsOf(found))].sort().join();

const cases: readonly Case[] = [
  {
    what: 'where',
    body: { filter: { where: 'team = "ops" and year >= 2025' } },
    flags: ['--where', 'team = "ops" and year >= 2025'],
    check: (found) => assert.equal(unique(found), 'b'),
  },
  {
    what: 'facets of metadata',
    body: { facets: ['type', 'metadata.team', 'metadata.year'], mode: 'keyword' },
    flags: ['--facets', 'type,metadata.team,metadata.year', '--mode', 'keyword'],
    check: ({ facets }) =>
      assert.deepEqual(facets, {
        type: [{ value: 'inline', count: 3 }],
        'metadata.team': [{ value: 'ops', count: 2 }],
        'metadata.year': [
          { value: 2024, count: 1 },
          { value: 2026, count: 1 },
        ],
      }),
  },
  {
    what: 'min_score',
    body: { min_score: 0.999 },
    flags: ['--min-score', '0.999'],
    check: ({ results }) => assert.ok(results.every(({ relevance }) => relevance >= 0.999)),
  },
  {
    what: 'near',
    body: { query: 'zzqqxx', near: true },
    flags: ['--near'],
    check: ({ results }) => assert.ok(results.length > 0 && results.every(({ near }) => near)),
  },
  ...(['hybrid', 'vector', 'keyword'] as const).map(
    (mode): Case => ({
      what: `nothing for nonsense (${mode})`,
      body: { query: 'zzqqxx', mode },
      flags: ['--mode', mode],
      check: ({ results, total }) => assert.deepEqual([results, total], [[], 0]),
    }),
  ),
  {
    what: 'total and offset',
    body: { mode: 'keyword', group: false, top_k: 2, offset: 2 },
    flags: ['--mode', 'keyword', '--group', 'none', '--top-k', '2', '--offset', '2'],
    check: ({ results, total }) => assert.deepEqual([results.length, total], [2, 8]),
  },
  {
    what: 'one result for each document',
    body: { group: 'document', mode: 'keyword' },
    flags: ['--group', 'document', '--mode', 'keyword'],
    check: (found) => {
      assert.deepEqual([found.results.length, unique(found)], [3, 'a,b,manual']);
      const whole = found.results.find(({ source_url }) => source_url === 'inline:manual');
      assert.ok((whole?.passages?.length ?? 0) > 0);
    },
  },
  {
    what: 'weights',
    body: { weights: { keyword: 1, vector: 0, feedback: 0 }, explain: true },
    flags: ['--weights', 'keyword=1,vector=0,feedback=0', '--explain'],
    check: ({ results: [first] }) => {
      const { keyword, vector } = first?.explanation?.weights ?? {};
      assert.deepEqual([keyword, vector], [1, 0]);
    },
  },
  {
    what: 'several corpora',
    body: { corpus_names: ['notes', 'other'], mode: 'keyword' },
    flags: ['--corpus', 'notes,other', '--mode', 'keyword'],
    check: (found) => assert.equal(unique(found), 'a,b,d,manual'),
  },
  {
    what: 'plain text without operators',
    body: { query: '"heron stands"', syntax: 'plain', mode: 'keyword' },
    flags: ['--plain', '--mode', 'keyword'],
    check: ({ results }) => assert.ok(results.length > 1),
  },
  {
    what: 'exact words',
    body: { query: '"heron stands"' },
    flags: [],
    check: (found) => assert.equal(unique(found), 'a'),
  },
  {
    what: 'did_you_mean',
    body: { query: 'herron', mode: 'keyword' },
    flags: ['--mode', 'keyword'],
    check: ({ did_you_mean: meant }) => assert.equal(meant, 'heron'),
  },
];

const refusals: readonly (readonly [Case['body'], RegExp])[] = [
  [{ facets: ['metadata.tema'] }, /the closest one is team/],
  [{ filter: { where: 'tema = "ops"' } }, /the closest one is team/],
  [{ weights: { keyword: 1 }, mode: 'keyword' }, /weights are for the mode hybrid/],
];

const stores = ['sqlite', 'postgres', 'pgvector', 'qdrant'] as const;

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres({ durable: false });
});
after(() => postgres.stop());

async function setup(t: Cleanup, store: (typeof stores)[number]) {
  const isPostgres = store === 'postgres' || store === 'pgvector';
  const qdrant = store === 'qdrant' ? await openQdrantPlace(t) : undefined;
  const bench = await openBench(t, {
    database: isPostgres ? await postgres.createDatabase() : undefined,
    pgvector: store === 'pgvector' ? 'auto' : 'off',
    sinks: qdrant && { qdrant },
  });
  const { service, submit, ended } = bench;
  await ended(await submit({ corpus_name: 'notes', documents: notes }));
  await ended(await submit({ corpus_name: 'other', documents: other }));
  if (qdrant) {
    const { store: database } = sessionOf(service.pawl);
    const isFilled = async () => (await readSinkPlace(database, 'qdrant')) !== undefined;
    await until(isFilled, { what: 'Qdrant to be filled' });
  }
  const client = new Client({ name: 'a test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address)));
  t.after(() => client.close());
  return { ...bench, client };
}

const bodyOf = ({ query = 'heron', ...rest }: Case['body']): Body => ({
  ...(rest.corpus_names === undefined && { corpus_name: 'notes' }),
  query,
  ...rest,
});

/** Without what differs between two calls. */
const comparable = (found: unknown): unknown => withoutNoise(found);

for (const store of stores) {
  const skip = (store === 'pgvector' && whyNoPgvector()) || false;

  describe(`a search on ${store}`, { skip }, () => {
    test('finds the same by HTTP, library and MCP', async (t) => {
      const { ask, service, client } = await setup(t, store);
      for (const { what, body, check } of cases) {
        const request = bodyOf(body);
        const { status, body: found } = await ask<Found>('POST /search', { body: request });
        assert.equal(status, 200, `${what}: ${JSON.stringify(found)}`);
        check(found);
        const local = await sessionOf(service.pawl).ask('POST /search', { body: request });
        assert.deepEqual(comparable(local), comparable(found), `${what} by the library`);
        const told = await client.callTool({ name: 'search', arguments: { ...request } });
        assert.deepEqual(comparable(told.structuredContent), comparable(found), `${what} by MCP`);
      }
      for (const [body, reason] of refusals) {
        const { status, body: problem } = await ask('POST /search', { body: bodyOf(body) });
        assert.equal(status, 400);
        assert.match(String(problem.detail), reason);
      }
    });
  });
}

test('the flags of pawl search find the same as the request', async (t) => {
  const { ask, service } = await setup(t, 'sqlite');
  const place = openRunner(t);
  for (const { what, body, flags = [] } of cases) {
    const { query = 'heron', ...rest } = body;
    const { body: found } = await ask<Found>('POST /search', { body: bodyOf(body) });
    const words = rest.corpus_names ? [query] : ['notes', query];
    const args = ['search', ...words, ...flags, '--url', service.address, '--json'];
    const shown = await place.run(args);
    assert.equal(shown.code, 0, `${what}: ${shown.stderr}`);
    assert.deepEqual(comparable(JSON.parse(shown.stdout)), comparable(found), what);
  }
  const wrong = await place.run(['search', 'notes', 'heron', '--weights', 'words=1']);
  assert.deepEqual([wrong.code, /such as keyword=1/.test(wrong.stderr)], [64, true]);
});
