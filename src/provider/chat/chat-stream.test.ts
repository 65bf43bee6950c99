import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import {
  type ChatScript,
  chatUsage,
  saying,
  startChatServer,
} from '../../../test/support/chat-server.ts';
import type { Cleanup } from '../../../test/support/temporary.ts';
import { realWorld } from '../../app/world.ts';
import type { FailureCode } from '../../kernel/failure/failure.ts';
import type { World } from '../../kernel/world.ts';
import { type ChatEvent, openaiChat } from './chat-stream.ts';

const never = new AbortController().signal;
const messages = [
  { role: 'system', content: 'Answer.' },
  { role: 'user', content: 'The walrus sleeps in a secret bay of the northern sea.' },
] as const;

async function setup(t: Cleanup, script: ChatScript, world: World = realWorld()) {
  const server = await startChatServer(t, script);
  const chat = openaiChat({ model: 'm', url: `${server.url}/`, key: 'sk-test-1234567890', world });
  const read = async (signal = never): Promise<ChatEvent[]> => {
    const events: ChatEvent[] = [];
    for await (const event of chat.stream(messages, signal)) events.push(event);
    return events;
  };
  return { server, chat, read };
}

const raw =
  (text: string, status = 200): ChatScript =>
  (_, { response }) => {
    response.writeHead(status, { 'content-type': 'text/event-stream' }).end(text);
  };
const line = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const delta = (content: string, finish: string | null = null) =>
  line({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] });

describe('a streamed completion', () => {
  test('gives its text in pieces, then its end with the tokens', async (t) => {
    const { server, read } = await setup(t, saying('It opens at nine.'));
    const events = await read();
    assert.equal(events[0]?.kind, 'begun');
    const text = events.map((event) => (event.kind === 'text' ? event.text : '')).join('');
    assert.equal(text, 'It opens at nine.');
    const { prompt_tokens: input, completion_tokens: output } = chatUsage;
    assert.deepEqual(events.at(-1), { kind: 'end', isCut: false, tokens: { input, output } });
    assert.equal(server.calls[0]?.authorization, 'Bearer sk-test-1234567890');
    assert.deepEqual(server.wrongs, []);
  });

  const endings: readonly (readonly [string, string, Partial<ChatEvent>])[] = [
    [
      'without a count',
      `${delta('a', 'stop')}data: [DONE]\n\n`,
      { isCut: false, tokens: undefined },
    ],
    ['without its last line', delta('a', 'stop'), { isCut: false }],
    ['at its longest length', `${delta('a', 'length')}data: [DONE]\n\n`, { isCut: true }],
    [
      'with the line ends of Windows',
      delta('a', 'stop').replaceAll('\n', '\r\n'),
      { isCut: false },
    ],
    ['with comments', `: ping\n\n${delta('a')}: ping\n\n${delta('', 'stop')}`, { isCut: false }],
  ];
  for (const [what, text, expected] of endings) {
    test(`may end ${what}`, async (t) => {
      const { read } = await setup(t, raw(text));
      const events = await read();
      assert.deepEqual(events[1], { kind: 'text', text: 'a' });
      assert.deepEqual({ ...events.at(-1), ...expected }, events.at(-1));
    });
  }

  const broken: readonly (readonly [string, ChatScript, FailureCode])[] = [
    ['ends without saying so', raw(delta('a')), 'provider_unavailable'],
    [
      'fails in the middle',
      raw(delta('a') + line({ error: { message: 'x' } })),
      'provider_unavailable',
    ],
    ['is no JSON', raw('data: <html>\n\n'), 'step_output_invalid'],
    ['is no object', raw('data: 7\n\n'), 'step_output_invalid'],
    [
      'is a refusal',
      raw(line({ choices: [{ delta: { refusal: 'No.' } }] })),
      'step_output_invalid',
    ],
    ['is refused with 400', raw('{}', 400), 'provider_bad_request'],
    ['is refused with 401', raw('{}', 401), 'provider_auth'],
    ['is refused with 402', raw('{}', 402), 'provider_quota'],
    ['is refused with 429', raw('{}', 429), 'rate_limited'],
    ['is refused with 500', raw('{}', 500), 'provider_unavailable'],
    ['is cut off', (_, { response }) => void response.destroy(), 'provider_unavailable'],
    ['is longer than any answer', endless, 'step_output_invalid'],
  ];
  for (const [what, script, code] of broken) {
    test(`that ${what} is ${code}`, async (t) => {
      const { read } = await setup(t, script);
      await assert.rejects(read(), { code });
    });
  }

  test('reveals neither the question nor the key in a failure', async (t) => {
    const message = `cannot read "${messages[1].content}" with sk-test-1234567890`;
    const { read } = await setup(t, raw(JSON.stringify({ error: { message } }), 400));
    const error = await read().catch((failure: Error) => failure);
    assert.doesNotMatch(String(error), /walrus|sk-test/);
  });

  test('that takes too long is unavailable', async (t) => {
    const world: World = {
      ...realWorld(),
      setTimer: (run) => {
        ring = run;
        return () => undefined;
      },
    };
    let ring = (): void => undefined;
    const { read } = await setup(
      t,
      (_, stream) => {
        stream.text('a');
        ring();
      },
      world,
    );
    await assert.rejects(read(), { code: 'provider_unavailable', message: /did not answer in/ });
  });

  test('ends its request when it is left or aborted', async (t) => {
    const { server, chat, read } = await setup(t, (_, stream) => stream.text('a'));
    for await (const { kind } of chat.stream(messages, never)) if (kind === 'text') break;
    await server.calls[0]?.closed;
    const leaving = new AbortController();
    server.script = () => leaving.abort();
    await assert.rejects(read(leaving.signal), { name: 'AbortError' });
    await server.calls[1]?.closed;
  });

  test('is not sent beyond the rate limit', async (t) => {
    const { server } = await setup(t, saying('a'));
    const budget = { requestsPerMinute: 1, tokensPerMinute: 100_000 };
    const chat = openaiChat({ model: 'm', url: server.url, world: realWorld(), budget });
    for await (const _ of chat.stream(messages, never));
    assert.throws(() => chat.stream(messages, never), { code: 'rate_limited' });
    assert.equal(server.calls.length, 1);
  });
});

function endless(_: unknown, { response }: { readonly response: ServerResponse }): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const part = delta('x'.repeat(60_000));
  const write = (): void => {
    while (!response.destroyed && response.write(part));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}
