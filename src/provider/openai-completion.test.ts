import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import {
  type Answering,
  type CompletionServer,
  startCompletionServer,
  withContent,
  withStatus,
} from '../../test/support/completion-server.ts';
import type { FailureCode } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { World } from '../kernel/world.ts';
import { realWorld } from '../world.ts';
import { type OpenaiCompletionOptions, openaiCompleter } from './openai-completion.ts';

const request = {
  instruction: 'find',
  input: 'Ada met Bob',
  schemaName: 'entities',
  schema: { type: 'object' },
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
    const prices = { inputCents: 100, outputCents: 400 };
    const answer = await completer({ prices }).complete(request, never);
    assert.deepEqual(answer, { text: '{"a":1}', tokensIn: 1000, tokensOut: 200, costCents: 0.18 });
    const call = server.calls.at(-1);
    assert.equal(call?.authorization, 'Bearer k');
    assert.deepEqual(call?.body.messages, [
      { role: 'system', content: 'find' },
      { role: 'user', content: 'Ada met Bob' },
    ]);
    assert.deepEqual(call?.body.response_format, {
      type: 'json_schema',
      json_schema: { name: 'entities', strict: true, schema: { type: 'object' } },
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
    ['no content', (_, response) => response.end('{"choices":[]}'), 'step_output_invalid'],
    ['an answer cut short', withContent('{"entities":[', 'length'), 'step_output_invalid'],
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

  test('429 waits as long as the provider asks, and so does the next question', async () => {
    server.answer = withStatus(429, { 'retry-after': '7' });
    const asked = completer();
    const limited = { code: 'rate_limited', retryAfterMs: 7000 };
    await assert.rejects(asked.complete(request, never), limited);
    const calls = server.calls.length;
    await assert.rejects(asked.complete(request, never), { code: 'rate_limited' });
    assert.equal(server.calls.length, calls);
  });

  test('429 with a date, or without any time, waits within the bounds', async () => {
    const at = new Date(realWorld().now() + 90_000).toUTCString();
    server.answer = withStatus(429, { 'retry-after': at });
    const dated = await completer()
      .complete(request, never)
      .catch((error) => error);
    assert.ok(dated.retryAfterMs > 80_000 && dated.retryAfterMs <= 90_000);
    server.answer = withStatus(429);
    await assert.rejects(completer().complete(request, never), {
      retryAfterMs: limits.wait.retryAfterMsDefault,
    });
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

  test('a step that is called off does not wait for the answer', async () => {
    const controller = new AbortController();
    server.answer = () => controller.abort();
    const answer = completer().complete(request, controller.signal);
    await assert.rejects(answer, { name: 'AbortError' });
  });
});

test('a provider that is not there is unavailable, and the message has no key', async () => {
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
