import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  type EmbeddingRequest,
  fakeTokens,
  fakeVector,
  goodBody,
  type ScriptedAnswer,
  startOpenaiServer,
} from '../../../test/support/openai-server.ts';
import { realWorld } from '../../app/world.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import type { PaidVector } from './embedding.ts';
import { type OpenaiOptions, openaiEmbedder } from './openai-embedder.ts';
import { fromSignedBytes, toSignedBytes } from './vector-bytes.ts';

const key = 'sk-very-secret-key-0123456789';

async function setup(t: TestContext, options: Partial<OpenaiOptions> = {}) {
  const server = await startOpenaiServer(t);
  const embedder = openaiEmbedder({
    world: realWorld(),
    model: 'text-embedding-3-small',
    url: server.url,
    key,
    ...options,
  });
  t.after(() => embedder.close?.());
  const { signal } = new AbortController();
  const embed = (...texts: string[]) => embedder.embed(texts, signal);
  const failing = async (...texts: string[]): Promise<Failure> => {
    const error = await embed(...texts).then(
      () => assert.fail('it was answered'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof Failure, String(error));
    return error;
  };
  return { server, embedder, embed, failing, signal };
}

const expectedBytes = (text: string, dimensions?: number) =>
  toSignedBytes(Float64Array.from(fakeVector(text, dimensions)));

describe('an OpenAI-compatible embedder', () => {
  test('gives each text its own vector, in any order of the response', async (t) => {
    const { embed, server } = await setup(t);
    const { vectors, tokensIn, costCents } = await embed('one', 'two words', 'one');
    assert.deepEqual(
      vectors,
      ['one', 'two words', 'one'].map((text) => expectedBytes(text)),
    );
    assert.deepEqual(server.requests[0]?.texts, ['one', 'two words']);
    assert.equal(server.requests[0]?.authorization, `Bearer ${key}`);
    assert.equal(tokensIn, 3);
    assert.equal(costCents, (3 * 2) / 1_000_000);
  });

  test('requests the configured dimensions, and names them in its model', async (t) => {
    const { embed, embedder, server } = await setup(t, { dimensions: 5 });
    assert.equal(embedder.model, 'text-embedding-3-small@5');
    const [vector = new Uint8Array()] = (await embed('one')).vectors;
    assert.equal(fromSignedBytes(vector).length, 5);
    assert.equal(server.requests[0]?.dimensions, 5);
  });

  test('takes plain numbers as well as base64', async (t) => {
    const { embed, server } = await setup(t);
    server.script = ({ texts }) => ({
      body: { data: texts.map((text) => ({ embedding: [...fakeVector(text)] })) },
    });
    assert.deepEqual((await embed('a', 'b')).vectors, [expectedBytes('a'), expectedBytes('b')]);
  });

  test('has no price for an unknown model, unless one is configured', async (t) => {
    const own = await setup(t, { model: 'bge-m3' });
    assert.equal(own.embedder.meter?.centsPerMillionTokens, undefined);
    const told = await setup(t, { model: 'bge-m3', centsPerMillionTokens: 0 });
    assert.equal(told.embedder.meter?.centsPerMillionTokens, 0);
  });

  const invalid: readonly (readonly [string, (good: ReturnType<typeof goodBody>) => unknown])[] = [
    ['too few vectors', ({ data }) => ({ data: data.slice(1) })],
    ['two vectors in one place', ({ data }) => ({ data: [data[0], data[0]] })],
    [
      'a vector of another length',
      ({ data }) => ({ data: [data[0], { index: 0, embedding: [1] }] }),
    ],
    ['no numbers', ({ data }) => ({ data: [data[0], { index: 0, embedding: [null, 1] }] })],
    ['cut base64', ({ data }) => ({ data: [data[0], { index: 0, embedding: 'AAAAAA' }] })],
    ['no list', () => ({ vectors: [] })],
    ['no JSON', () => '<html>'],
  ];
  for (const [what, spoil] of invalid) {
    test(`takes ${what} for a result of the wrong shape`, async (t) => {
      const { failing, server } = await setup(t);
      server.script = (request) => ({ body: spoil(goodBody(request)) });
      const failure = await failing('a', 'b');
      assert.equal(failure.code, 'step_output_invalid');
      assert.equal(failure.kind, 'schema_invalid');
    });
  }

  test('treats a model whose vectors change their length as broken', async (t) => {
    const { embed, failing, server } = await setup(t);
    await embed('first');
    server.script = (request) => ({ body: goodBody({ ...request, dimensions: 3 }) });
    assert.match((await failing('second')).message, /3 of 8 dimensions/);
  });

  const refusals: readonly (readonly [ScriptedAnswer, string, string])[] = [
    [{ status: 400 }, 'provider_bad_request', 'fatal'],
    [{ status: 404 }, 'provider_bad_request', 'fatal'],
    [{ status: 422 }, 'provider_bad_request', 'fatal'],
    [{ status: 401 }, 'provider_auth', 'fatal'],
    [{ status: 403 }, 'provider_auth', 'fatal'],
    [{ status: 402 }, 'provider_quota', 'fatal'],
    [{ status: 408 }, 'provider_unavailable', 'transient'],
    [{ status: 500 }, 'provider_unavailable', 'transient'],
    [{ status: 503, body: 'busy' }, 'provider_unavailable', 'transient'],
    [{ status: 500, body: { error: 'CUDA out of memory' } }, 'gpu_oom', 'transient'],
    [{ status: 429 }, 'rate_limited', 'rate_limited'],
    [{ status: 429, body: { error: { code: 'insufficient_quota' } } }, 'provider_quota', 'fatal'],
  ];
  for (const [answer, code, kind] of refusals) {
    test(`takes ${JSON.stringify(answer)} for ${code}`, async (t) => {
      const { failing, server } = await setup(t);
      server.script = () => ({ body: {}, ...answer });
      const failure = await failing('a');
      assert.deepEqual([failure.code, failure.kind], [code, kind]);
    });
  }

  test('treats a broken or refused connection as transient', async (t) => {
    const { failing, server, embedder, signal } = await setup(t);
    server.script = () => 'hang up';
    assert.equal((await failing('a')).kind, 'transient');
    await server.close();
    await assert.rejects(embedder.embed(['b'], signal), { code: 'network_error' });
  });

  test('gives up on a server that does not respond in time', async (t) => {
    const { failing, server } = await setup(t, { requestMs: 50 });
    server.script = () => new Promise(() => undefined);
    assert.equal((await failing('a')).code, 'timeout_soft');
  });

  const waits: readonly (readonly [Record<string, string>, number, number])[] = [
    // Long, so that none elapses on a busy machine before the second request.
    [{ 'retry-after': '700' }, 700_000, 700_000],
    [{ 'retry-after-ms': '250000' }, 250_000, 250_000],
    [{ 'retry-after': new Date(Date.now() + 3_000_000).toUTCString() }, 1_500_000, 3_000_000],
    [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' }, 360_000, 360_000],
    [
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '120000ms',
        'x-ratelimit-remaining-tokens': '9',
        'x-ratelimit-reset-tokens': '5s',
      },
      120_000,
      120_000,
    ],
  ];
  for (const [headers, least, most] of waits) {
    test(`waits as long as ${JSON.stringify(Object.keys(headers))} asks for`, async (t) => {
      const { failing, server } = await setup(t);
      server.script = () => ({ status: 429, headers, body: {} });
      const { retryAfterMs = 0 } = await failing('a');
      assert.ok(retryAfterMs >= least && retryAfterMs <= most, String(retryAfterMs));
      // Nothing else in this process sends a request before that time.
      const waiting = await failing('b');
      assert.equal(waiting.code, 'rate_limited');
      assert.equal(server.requests.length, 1);
    });
  }

  test('respects its own limit of requests and tokens', async (t) => {
    const budget = { requestsPerMinute: 1, tokensPerMinute: 1000 };
    const { embed, failing, server } = await setup(t, { budget });
    await embed('a');
    const failure = await failing('b');
    assert.equal(failure.code, 'rate_limited');
    assert.ok((failure.retryAfterMs ?? 0) > 0);
    assert.equal(server.requests.length, 1);
  });

  test('repeats what the server says is wrong, wherever it says so', async (t) => {
    const { failing, server } = await setup(t);
    const detail = [{ type: 'too_long', loc: ['body', 'input'], msg: 'too many', input: 'a text' }];
    for (const [body, said] of [
      [{ detail: 'too many' }, 'too many'],
      [{ detail }, 'body.input too many'],
      [{ object: 'error', message: { detail } }, 'body.input too many'],
      [{ object: 'error', message: 'too many' }, 'too many'],
      [{ detail: [null, 7] }, undefined],
    ] as const) {
      server.script = () => ({ status: 422, body });
      const { message } = await failing('a text');
      const tail = said === undefined ? '' : `: ${said}`;
      assert.match(message, new RegExp(`^\\S+ answered 422 for \\S+${tail}$`));
    }
  });

  test('puts neither the key nor the text of a document into its failures', async (t) => {
    const { failing, server } = await setup(t);
    const text = 'the confidential text of a document';
    const messages = [
      `bad key ${key}`,
      'Incorrect API key: sk-abc*****xyz',
      `cannot embed ${text}`,
    ];
    for (const message of messages) {
      server.script = () => ({ status: 401, body: { error: { message } } });
      const failure = await failing(text);
      const told = `${failure.message} ${JSON.stringify(failure.context)} ${failure.stack}`;
      assert.doesNotMatch(told, /secret|sk-|confidential/);
    }
  });
});

describe('requests of many documents', () => {
  test('that arrive together are sent as one, and each gets its own part', async (t) => {
    const { embed, server } = await setup(t);
    const answers = await Promise.all([embed('a b c'), embed('d'), embed('e', 'f')]);
    assert.equal(server.requests.length, 1);
    assert.deepEqual(
      answers.map(({ vectors }) => vectors),
      [['a b c'], ['d'], ['e', 'f']].map((texts) => texts.map((text) => expectedBytes(text))),
    );
    const tokens = answers.reduce((sum, { tokensIn }) => sum + tokensIn, 0);
    assert.equal(
      tokens,
      ['a b c', 'd', 'e', 'f'].reduce((sum, text) => sum + fakeTokens(text), 0),
    );
  });

  test('pay once for a text that several of them have', async (t) => {
    const { embed, server } = await setup(t);
    const answers = await Promise.all([embed('same text'), embed('same text', 'other')]);
    assert.deepEqual(server.answered.toSorted(), ['other', 'same text']);
    assert.equal(
      answers.reduce((sum, { tokensIn }) => sum + tokensIn, 0),
      3,
    );
    assert.deepEqual(answers[0]?.vectors[0], answers[1]?.vectors[0]);
  });

  test('fail alone if the provider refuses one of their texts', async (t) => {
    const { embed, server } = await setup(t);
    const refusing = ({ texts }: EmbeddingRequest) =>
      texts.includes('bad') ? { status: 400, body: { error: { message: 'too long' } } } : undefined;
    server.script = refusing;
    const good = Array.from({ length: 20 }, (_, index) => embed(`good ${index}`));
    const [bad, ...rest] = await Promise.allSettled([embed('bad'), ...good]);
    assert.equal(bad?.status, 'rejected');
    assert.deepEqual(new Set(rest.map(({ status }) => status)), new Set(['fulfilled']));
    assert.equal(server.answered.length, 20);
    assert.ok(server.requests.length <= 12, `${server.requests.length} requests`);
  });

  test('shrink to what the server accepts, and stay so', async (t) => {
    const { embedder, signal, server } = await setup(t);
    server.script = ({ texts }) =>
      texts.length > 32 ? { status: 413, body: { message: 'batch size', type: 'Validation' } } : {};
    const texts = Array.from({ length: 600 }, (_, index) => `text ${index}`);
    const { vectors } = await embedder.embed(texts, signal);
    assert.equal(vectors.length, texts.length);
    const asked = server.requests.length;
    await embedder.embed(
      texts.map((text) => `another ${text}`),
      signal,
    );
    const later = server.requests.slice(asked).map(({ texts: sent }) => sent.length);
    assert.deepEqual([Math.max(...later), later.length], [32, Math.ceil(600 / 32)]);
  });

  test('are not made smaller for long by texts that are too long together', async (t) => {
    const { embedder, signal, server } = await setup(t);
    server.script = ({ texts }) => (texts.join('').length > 3000 ? { status: 400, body: {} } : {});
    const long = Array.from({ length: 16 }, (_, index) => `${index}`.padEnd(1000, ' long'));
    assert.equal((await embedder.embed(long, signal)).vectors.length, 16);
    const asked = server.requests.length;
    await embedder.embed(
      Array.from({ length: 100 }, (_, index) => `short ${index}`),
      signal,
    );
    assert.equal(server.requests.length, asked + 1);
  });

  test('are not split further if every text is refused', async (t) => {
    const { failing, server } = await setup(t);
    server.script = () => ({ status: 400, body: {} });
    const texts = Array.from({ length: 256 }, (_, index) => `text ${index}`);
    await failing(...texts);
    assert.ok(server.requests.length <= 31, `${server.requests.length} requests`);
  });

  test('fail together only with the request they were in', async (t) => {
    const { embed, server } = await setup(t);
    server.script = (_, index) => (index === 0 ? { status: 500, body: {} } : undefined);
    const first = await Promise.allSettled([embed('a'), embed('b')]);
    assert.deepEqual(
      first.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal((await embed('a')).vectors.length, 1);
  });
});

describe('an answer that was paid for', () => {
  test('is kept before it is handed on', async (t) => {
    const { embedder, signal } = await setup(t);
    const kept: PaidVector[] = [];
    const order: string[] = [];
    const keep = async (paid: readonly PaidVector[]): Promise<void> => {
      await new Promise(setImmediate);
      kept.push(...paid);
      order.push('kept');
    };
    await embedder.embed(['one', 'two'], signal, keep);
    order.push('handed on');
    assert.deepEqual(order, ['kept', 'handed on']);
    assert.deepEqual(
      kept.map(({ text, tokens }) => [text, tokens]),
      [
        ['one', 1],
        ['two', 1],
      ],
    );
  });

  test('is kept even if no caller waits for it', async (t) => {
    const { embedder, server } = await setup(t);
    const caller = new AbortController();
    const kept = Promise.withResolvers<readonly PaidVector[]>();
    server.script = async () => {
      caller.abort(new Error('paused'));
      return undefined;
    };
    const asked = embedder.embed(['one'], caller.signal, async (paid) => kept.resolve(paid));
    await assert.rejects(asked, /paused/);
    assert.deepEqual(
      (await kept.promise).map(({ text }) => text),
      ['one'],
    );
  });

  test('is not requested if its caller gave up before it was sent', async (t) => {
    const { embedder, embed, server } = await setup(t);
    const caller = new AbortController();
    const asked = embedder.embed(['mine', 'ours'], caller.signal);
    const other = embed('ours');
    caller.abort(new Error('canceled'));
    await assert.rejects(asked, /canceled/);
    await other;
    assert.deepEqual(server.answered, ['ours']);
  });

  test('counts as missing if it cannot be stored', async (t) => {
    const { embedder, signal, embed } = await setup(t);
    const keep = () => Promise.reject(new Failure('storage_full', 'no room'));
    await assert.rejects(embedder.embed(['one'], signal, keep), { code: 'storage_full' });
    assert.equal((await embed('one')).vectors.length, 1);
  });

  test('is waited for when Pawl is closed', async (t) => {
    const { embedder, server } = await setup(t);
    const caller = new AbortController();
    let kept = 0;
    const underWay = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<undefined>();
    server.script = () => {
      underWay.resolve();
      return answer.promise;
    };
    const keep = async (paid: readonly PaidVector[]): Promise<void> => {
      kept += paid.length;
    };
    const asked = embedder.embed(['one'], caller.signal, keep);
    await underWay.promise;
    caller.abort(new Error('shutdown'));
    await assert.rejects(asked, /shutdown/);
    const closed = embedder.close?.();
    answer.resolve(undefined);
    await closed;
    assert.equal(kept, 1);
  });
});
