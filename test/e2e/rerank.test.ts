/** Searches that an endpoint reranks, through the library. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type OpenOptions, open, type Pawl } from '../../src/index.ts';
import { startPostgres } from '../support/postgres.ts';
import { answerScores, type RerankServer, startRerankServer } from '../support/rerank-server.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';

const corpus = 'notes';
const documents = [
  { id: 'long', text: 'Tides tides tides. The moon moves the tides of the sea, twice each day.' },
  { id: 'other', text: 'The keeper of the lighthouse counts ships, and writes about tides.' },
  { id: 'none', text: 'Bread is made of flour, water, salt and time.' },
];

const paths = { jina: 'jina/v1', cohere: 'cohere/v2', voyage: 'voyage/v1', tei: 'tei' } as const;

interface Scene {
  readonly server: RerankServer;
  readonly data: string;
  opened(options?: Partial<NonNullable<OpenOptions['reranker']>> & object): Promise<Pawl>;
}

async function setup(
  t: Cleanup,
  vendor: keyof typeof paths = 'jina',
  database?: string,
): Promise<Scene> {
  const server = await startRerankServer(t);
  const data = temporaryDirectory(t);
  const reranker = { choice: `${vendor}:m`, url: `${server.origin}/${paths[vendor]}` };
  const opened = async (options = {}) => {
    const pawl = await open({ data, database, reranker: { ...reranker, ...options } });
    t.after(() => pawl.close());
    return pawl;
  };
  const first = await open({ data, database });
  await (await first.ingest(documents, { corpus })).wait();
  await first.close();
  return { server, data, opened };
}

const idsOf = (response: Awaited<ReturnType<Pawl['searchResponse']>>) =>
  response.results.map(({ sourceUrl }) => sourceUrl.replace('inline:', ''));

describe('an endpoint that reranks', () => {
  for (const vendor of Object.keys(paths) as (keyof typeof paths)[]) {
    test(`orders the results, in the interface of ${vendor}`, async (t) => {
      const { server, opened } = await setup(t, vendor);
      const pawl = await opened({ key: 'k' });
      server.script = (call, response) => {
        answerScores(
          call,
          response,
          call.texts.map((text) => (text.includes('keeper') ? 0.9 : 0.2)),
        );
        return true;
      };
      const found = await pawl.searchResponse(corpus, 'tides');
      assert.deepEqual(idsOf(found).slice(0, 2), ['other', 'long']);
      assert.deepEqual(found.reranked, { model: `${vendor}:m`, failure: null });
      assert.equal(found.results[0]?.score, 0.9);
      const [call] = server.calls;
      assert.deepEqual([call?.authorization, call?.query], ['Bearer k', 'tides']);
      assert.deepEqual(server.wrongs, []);
    });
  }

  test('may return scores of a model without its last step', async (t) => {
    const { server, opened } = await setup(t);
    const pawl = await opened();
    server.script = (call, response) => {
      answerScores(
        call,
        response,
        call.texts.map((text) => (text.includes('keeper') ? 3 : -3)),
      );
      return true;
    };
    const { results, reranked } = await pawl.searchResponse(corpus, 'tides');
    assert.equal(reranked?.failure, null);
    assert.ok(results.every(({ score }) => score > 0 && score < 1));
    assert.match(results[0]?.text ?? '', /keeper/);
  });

  type Answer = RerankServer['script'];
  const status =
    (code: number, headers = {}): Answer =>
    (_, response) => {
      response.writeHead(code, headers).end('{"message":"told so"}');
      return true;
    };
  const scores =
    (given: readonly number[]): Answer =>
    (call, response) => {
      answerScores(call, response, given);
      return true;
    };
  const body =
    (text: string): Answer =>
    (_, response) => {
      response.end(text);
      return true;
    };
  const hangUp: Answer = (_, response) => {
    response.destroy();
    return true;
  };
  const failures: readonly (readonly [what: string, script: Answer, code: string])[] = [
    ['is down', status(503), 'provider_unavailable'],
    ['hangs up', hangUp, 'provider_unavailable'],
    ['redirects', status(307, { location: 'http://127.0.0.1:1/' }), 'provider_unavailable'],
    ['refuses the key', status(401), 'provider_auth'],
    ['refuses the request', status(422), 'provider_bad_request'],
    ['asks to wait', status(429, { 'retry-after': '700' }), 'rate_limited'],
    ['returns too few scores', scores([1]), 'step_output_invalid'],
    ['returns no JSON', body('<html>'), 'step_output_invalid'],
    ['returns no list', body('{"results":7}'), 'step_output_invalid'],
    ['names a passage twice', body('{"results":[{"index":0},{"index":0}]}'), 'step_output_invalid'],
  ];
  for (const [what, script, code] of failures) {
    test(`that ${what} leaves the order, and the answer says so`, async (t) => {
      const { server, opened } = await setup(t);
      const plain = await opened();
      server.script = script;
      const found = await plain.searchResponse(corpus, 'tides');
      assert.equal(found.reranked?.failure?.code, code);
      assert.deepEqual(idsOf(found).slice(0, 2).sort(), ['long', 'other']);
      assert.doesNotMatch(found.reranked?.failure?.detail ?? '', /keeper/);
    });
  }

  test('that asks to wait is not asked by the next search', async (t) => {
    const { server, opened } = await setup(t);
    const pawl = await opened();
    server.script = status(429, { 'retry-after': '700' });
    for (const query of ['tides', 'keeper tides', 'sea tides']) {
      const { reranked } = await pawl.searchResponse(corpus, query);
      assert.equal(reranked?.failure?.code, 'rate_limited');
    }
    assert.equal(server.calls.length, 1);
  });

  test('is not asked if nothing is found', async (t) => {
    const { server, opened } = await setup(t);
    const { results, reranked } = await (await opened()).searchResponse(corpus, 'zzqqxx');
    assert.deepEqual([results, reranked, server.calls.length], [[], null, 0]);
  });
});

describe('reranking is paid for', () => {
  test('once for the same query and passages, also by another process', async (t) => {
    const { server, opened } = await setup(t);
    await paidOnce(server, opened);
  });

  test('on Postgres as well', async (t) => {
    const postgres = await startPostgres({ durable: false });
    t.after(() => postgres.stop());
    const { server, opened } = await setup(t, 'jina', await postgres.createDatabase());
    await paidOnce(server, opened);
  });

  async function paidOnce(server: RerankServer, opened: Scene['opened']): Promise<void> {
    const price = { cents: 100, of: 'tokens' } as const;
    const first = await opened({ price });
    await first.search(corpus, 'tides');
    await first.search(corpus, 'tides');
    await first.close();
    const second = await opened({ price });
    const { reranked } = await second.searchResponse(corpus, 'tides');
    assert.deepEqual([reranked?.failure, server.calls.length], [null, 1]);
    const { costCents, savedCents } = await second.corpus(corpus);
    assert.deepEqual([costCents, savedCents], [0.1, 0.2]);
    await second.close();
  }

  test('by the search, if that is the price', async (t) => {
    const { opened } = await setup(t, 'cohere');
    const pawl = await opened({ price: { cents: 0.2, of: 'search' } });
    await pawl.search(corpus, 'tides');
    assert.equal((await pawl.corpus(corpus)).costCents, 0.2);
  });

  test('within the budget of the caller, and not without a price', async (t) => {
    const { server, opened } = await setup(t);
    const pawl = await opened({ price: { cents: 100, of: 'search' } });
    await pawl.setCorpusBudget(corpus, 150);
    assert.equal((await pawl.searchResponse(corpus, 'tides')).reranked?.failure, null);
    const refused = await pawl.searchResponse(corpus, 'keeper');
    assert.equal(refused.reranked?.failure?.code, 'budget_exhausted');
    assert.ok(refused.results.length > 0);
    await pawl.close();
    const unpriced = await opened();
    const { reranked } = await unpriced.searchResponse(corpus, 'tides keeper');
    assert.match(reranked?.failure?.detail ?? '', /set PAWL_RERANKER_PRICE/);
    assert.equal(server.calls.length, 1);
  });

  test('a failed call costs nothing and frees what was reserved', async (t) => {
    const { server, opened } = await setup(t);
    const price = { cents: 100, of: 'search' } as const;
    const pawl = await opened({ price });
    await pawl.setCorpusBudget(corpus, 100);
    server.script = (_, response) => {
      response.writeHead(422).end('{}');
      return true;
    };
    await pawl.search(corpus, 'tides');
    assert.equal((await pawl.corpus(corpus)).costCents, 0);
    server.script = () => undefined;
    assert.equal((await pawl.searchResponse(corpus, 'tides')).reranked?.failure, null);
  });
});

test('passages go only to the address that the corpus knows', async (t) => {
  const { server, opened } = await setup(t);
  const other = await startRerankServer(t);
  const first = await opened();
  await first.search(corpus, 'tides');
  const { recorded } = await first.origins(corpus);
  assert.ok(
    recorded.some(({ use, url }) => use === 'rerank' && url === `${server.origin}/jina/v1`),
  );
  await first.close();
  const moved = await opened({ url: `${other.origin}/jina/v1` });
  const { reranked, results } = await moved.searchResponse(corpus, 'tides keeper');
  assert.equal(reranked?.failure?.code, 'origin_not_configured');
  assert.match(reranked?.failure?.detail ?? '', /PAWL_RERANKER_URL=http.*origins notes --accept/);
  assert.deepEqual([results.length > 0, other.calls.length], [true, 0]);
  await moved.acceptOrigins(corpus);
  assert.equal((await moved.searchResponse(corpus, 'tides keeper')).reranked?.failure, null);
  assert.equal(other.calls.length, 1);
});

test('a reranker without its address or key is refused, with the setting to set', async (t) => {
  const data = temporaryDirectory(t);
  const cases: readonly [string, RegExp][] = [
    ['tei:m', /set PAWL_RERANKER_URL/],
    ['voyage:m', /set PAWL_RERANKER_KEY or VOYAGE_API_KEY/],
    ['local', /is no reranker: use openai:MODEL, jina:MODEL/],
  ];
  for (const [choice, reason] of cases) {
    await assert.rejects(open({ data, reranker: { choice } }), reason);
  }
});
