import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import {
  type Answering,
  type CompletionServer,
  startCompletionServer,
  withContent,
  withMessage,
  withStatus,
} from '../../../test/support/completion-server.ts';
import { realWorld } from '../../app/world.ts';
import { type FailureCode, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { type Completion, guessCompletion } from './completion.ts';
import { type OpenaiCompletionOptions, openaiCompleter } from './openai-completion.ts';

const schema = { type: 'object', additionalProperties: false, required: [], properties: {} };
const request = {
  instruction: 'find',
  input: 'Ada met Bob',
  schemaName: 'entities',
  schema,
};
const never = new AbortController().signal;

describe('a completer asks as OpenAI does', () => {
  let server: CompletionServer;
  before(async () => {
    server = await startCompletionServer(withContent('{}'));
  });
  after(() => server.close());

  const completer = (options: Partial<OpenaiCompletionOptions> = {}) =>
    openaiCompleter({ model: 'm', url: server.url, key: 'k', world: realWorld(), ...options });

  test('with the schema, the key and nothing but the two messages', async () => {
    server.answer = withContent('{"a":1}');
    const answer = await completer().complete(request, never);
    const tokens = { input: 1000, output: 200 };
    assert.deepEqual(answer, { outcome: '{"a":1}', tokens, isPayer: true });
    const call = server.calls.at(-1);
    assert.equal(call?.authorization, 'Bearer k');
    assert.deepEqual(call?.body.messages, [
      { role: 'system', content: 'find' },
      { role: 'user', content: 'Ada met Bob' },
    ]);
    assert.deepEqual(call?.body.response_format, {
      type: 'json_schema',
      json_schema: { name: 'entities', strict: true, schema },
    });
  });

  const refusals: readonly (readonly [what: string, answer: Answering, code: FailureCode])[] = [
    ['400', withStatus(400), 'provider_bad_request'],
    ['404', withStatus(404), 'provider_bad_request'],
    ['401', withStatus(401), 'provider_auth'],
    ['403', withStatus(403), 'provider_auth'],
    ['408', withStatus(408), 'provider_unavailable'],
    ['500', withStatus(500), 'provider_unavailable'],
    ['503', withStatus(503), 'provider_unavailable'],
    ['no JSON', (_, response) => response.end('<html>'), 'step_output_invalid'],
    ['a closed connection', (_, response) => response.destroy(), 'provider_unavailable'],
    [
      'a redirect',
      withStatus(307, { location: 'http://127.0.0.1:1/elsewhere' }),
      'provider_unavailable',
    ],
    [
      'an answer without end',
      (_, response) => response.end('x'.repeat(limits.completion.answerBytesMax + 1)),
      'step_output_invalid',
    ],
  ];
  for (const [what, answer, code] of refusals) {
    test(`${what} is ${code}`, async () => {
      server.answer = answer;
      await assert.rejects(completer().complete(request, never), { code });
    });
  }

  const useless: readonly (readonly [what: string, answer: Answering])[] = [
    ['no content', withMessage({})],
    ['a refusal', withMessage({ refusal: 'I would rather not.' })],
    ['an answer cut short', withContent('{"entities":[', 'length')],
  ];
  for (const [what, answer] of useless) {
    test(`${what} is unusable, and is charged before it is reported`, async () => {
      server.answer = answer;
      const kept: Completion[] = [];
      const told = await completer().complete(request, never, async (each) => {
        kept.push(each);
      });
      assert.equal(toFailure(told.outcome).code, 'step_output_invalid');
      assert.deepEqual(kept, [{ outcome: told.outcome, tokens: { input: 1000, output: 200 } }]);
    });
  }

  test('tokens are estimated if the server does not count them', async () => {
    server.answer = (_, response) => {
      const message = { content: 'x'.repeat(299) };
      response.end(JSON.stringify({ choices: [{ message }] }));
    };
    const { tokens } = await completer().complete(request, never);
    assert.deepEqual(tokens, { input: guessCompletion(request).input, output: 101 });
  });

  test('the price is that of the table, unless another is configured', () => {
    assert.deepEqual(completer({ model: 'gpt-4o-mini' }).prices, { input: 15, output: 60 });
    assert.equal(completer().prices, undefined);
    const prices = { input: 1, output: 2 };
    assert.deepEqual(completer({ prices }).prices, prices);
  });

  test('the rate limit per minute is not exceeded', async () => {
    server.answer = withContent('{}');
    const asked = completer({ budget: { requestsPerMinute: 1, tokensPerMinute: 1000 } });
    await asked.complete(request, never);
    const before = server.calls.length;
    await assert.rejects(asked.complete(request, never), { code: 'rate_limited' });
    assert.equal(server.calls.length, before);
  });

  test('concurrent equal requests are sent once, and the first caller pays', async () => {
    server.answer = withContent('{}');
    const asked = completer();
    const before = server.calls.length;
    const kept: number[] = [];
    const answers = await Promise.all(
      [1, 2, 3].map((who) => asked.complete(request, never, async () => void kept.push(who))),
    );
    assert.equal(server.calls.length - before, 1);
    assert.deepEqual(kept, [1]);
    assert.deepEqual(
      answers.map(({ isPayer }) => isPayer),
      [true, false, false],
    );
    await asked.complete(request, never);
    assert.equal(server.calls.length - before, 2);
  });

  test('a response is kept although its step was aborted, and close waits for it', async () => {
    const controller = new AbortController();
    let reply = (): void => undefined;
    server.answer = (...call) => {
      reply = () => withContent('{}')(...call);
      controller.abort();
    };
    const asked = completer();
    const kept: Completion[] = [];
    const answer = asked.complete(request, controller.signal, async (each) => {
      kept.push(each);
    });
    await assert.rejects(answer, { name: 'AbortError' });
    const closed = asked.close?.();
    reply();
    await closed;
    assert.equal(kept.length, 1);
  });

  test('429 waits as long as the provider asks, and so does the next request', async () => {
    server.answer = withStatus(429, { 'retry-after': '700' });
    const asked = completer();
    const limited = { code: 'rate_limited', retryAfterMs: 700_000 };
    await assert.rejects(asked.complete(request, never), limited);
    const calls = server.calls.length;
    await assert.rejects(asked.complete(request, never), { code: 'rate_limited' });
    assert.equal(server.calls.length, calls);
  });

  test('429 with a date, or without any time, waits within the bounds', async () => {
    const at = new Date(realWorld().now() + 900_000).toUTCString();
    server.answer = withStatus(429, { 'retry-after': at });
    const dated = await completer()
      .complete(request, never)
      .catch((error) => error);
    assert.ok(dated.retryAfterMs > 600_000 && dated.retryAfterMs <= 900_000);
    server.answer = withStatus(429);
    const asked = completer();
    await assert.rejects(asked.complete(request, never), { code: 'rate_limited' });
    const next = await asked.complete(request, never).catch((error) => error);
    const { retryAfterMsDefault } = limits.wait;
    assert.ok(next.retryAfterMs > 0 && next.retryAfterMs <= retryAfterMsDefault);
  });

  test('an empty account is neither a rate limit nor the fault of the document', async () => {
    server.answer = withStatus(402);
    await assert.rejects(completer().complete(request, never), { code: 'provider_quota' });
    const body = { error: { message: 'You exceeded your quota.', code: 'insufficient_quota' } };
    server.answer = withStatus(429, {}, body);
    const error = await completer()
      .complete(request, never)
      .catch((failure) => failure);
    assert.equal(error.code, 'provider_quota');
    assert.match(error.message, /answered 429 for .*You exceeded your quota\./);
  });

  test('a refusal that repeats the document or the key reveals neither', async () => {
    const input = 'The walrus sleeps in a secret bay of the northern sea.';
    const message = `cannot read "${input}" with sk-test-1234567890`;
    server.answer = withStatus(400, {}, { error: { message } });
    const error = await completer()
      .complete({ ...request, input }, never)
      .catch((failure) => failure);
    assert.equal(error.code, 'provider_bad_request');
    assert.doesNotMatch(error.message, /walrus|sk-test/);
  });

  test('a provider that does not answer in time is unavailable', async () => {
    let ring = (): void => undefined;
    const world: World = {
      ...realWorld(),
      setTimer: (run) => {
        ring = run;
        return () => undefined;
      },
    };
    server.answer = () => ring();
    const answer = completer({ world }).complete(request, never);
    await assert.rejects(answer, { code: 'provider_unavailable', message: /did not answer/ });
  });

  test('an aborted step does not wait for the response', async () => {
    const controller = new AbortController();
    server.answer = () => controller.abort();
    const answer = completer().complete(request, controller.signal);
    await assert.rejects(answer, { name: 'AbortError' });
  });
});

test('an unreachable provider is unavailable, and the message has no key', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const url = `http://127.0.0.1:${port}/v1`;
  const absent = openaiCompleter({ model: 'm', url, key: 'secret', world: realWorld() });
  const error = await absent.complete(request, never).catch((failure) => failure);
  assert.equal(error.code, 'provider_unavailable');
  assert.match(error.message, new RegExp(`127.0.0.1:${port}`));
  assert.doesNotMatch(error.message, /secret/);
});
