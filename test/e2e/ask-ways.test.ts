/** Questions that a model answers from passages: over HTTP and on the command line. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client } from '../../src/client/http.ts';
import type { Answer } from '../../src/contract/schema/answer.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { type ChatScript, saying, startChatServer } from '../support/chat-server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';
import { corpus, documents, good, question } from './ask-scene.ts';
import { openRunner } from './pawl-process.ts';

describe('POST /ask', () => {
  const bench = async (t: Cleanup, script: ChatScript = saying(good)) => {
    const server = await startChatServer(t, script);
    const prices = { input: 100, output: 1000 };
    const opened = await openBench(t, { answerer: { model: 'm', url: server.url, prices } });
    await opened.ended(await opened.submit({ corpus_name: corpus, documents }));
    return { ...opened, server };
  };
  const body = { corpus_name: corpus, question };

  test('answers as one object', async (t) => {
    const { ask } = await bench(t);
    const answer = await ask<Answer>('POST /ask', { body });
    assert.deepEqual([answer.status, answer.body.outcome], [200, 'answered']);
    const missing = await ask('POST /ask', { body: { corpus_name: corpus } });
    assert.equal(missing.status, 400);
  });

  test('answers as a stream, which the client reads', async (t) => {
    const { service } = await bench(t);
    const response = await fetch(`${service.address}/v1/ask`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
    });
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    const names = [...(await response.text()).matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    assert.deepEqual(names, ['passages', 'sentence', 'sentence', 'done']);
    const client = new Client({ url: service.address });
    const read = [];
    for await (const { event } of client.answer(body)) read.push(event);
    assert.deepEqual(read, names);
  });

  test('refuses with a status before the stream, and with a problem in it', async (t) => {
    const { service, server, ask } = await bench(t);
    const stream = { ...body, stream: true };
    const unknown = await ask('POST /ask', { body: { ...stream, corpus_name: 'none' } });
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'corpus_unknown']);
    server.script = (_, { response }) => {
      response.writeHead(401).end('{}');
    };
    const client = new Client({ url: service.address });
    const read = async () => {
      for await (const _ of client.answer(body));
    };
    await assert.rejects(read(), (error) => {
      return error instanceof Failure && error.code === 'provider_auth';
    });
    const plain = await ask('POST /ask', { body });
    assert.deepEqual([plain.status, plain.body.code], [502, 'provider_auth']);
  });

  for (const stream of [true, false]) {
    test(`ends the request to the model if the client leaves: stream ${stream}`, async (t) => {
      const { service, server, ask } = await bench(t, (_, chat) => chat.text('It opens [1]. At '));
      const leaving = new AbortController();
      const asked = fetch(`${service.address}/ask`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, stream }),
        signal: leaving.signal,
      }).then((response) => response.text());
      const left = assert.rejects(asked, { name: 'AbortError' });
      await until(() => server.calls.length === 1, { what: 'the request to the model' });
      leaving.abort();
      await left;
      await server.calls[0]?.closed;
      const params = { name: corpus };
      const isCharged = async () => {
        const shown = await ask<{ cost_cents: number }>('GET /corpora/:name', { params });
        return shown.body.cost_cents > 0;
      };
      await until(isCharged, { what: 'the charge' });
    });
  }

  test('without a model says which settings to set', async (t) => {
    const { ask } = await openBench(t);
    const { status, body: problem } = await ask('POST /ask', { body });
    assert.deepEqual([status, problem.code], [409, 'answerer_missing']);
    assert.match(String(problem.detail), /PAWL_ANSWERER=openai:MODEL/);
  });
});

describe('pawl ask', () => {
  test('prints each sentence with its sources, and the cost', async (t) => {
    const server = await startChatServer(t, saying(`${good} Everybody knows.`));
    const place = openRunner(t);
    for (const { id, text } of documents) place.write(`docs/${id}.md`, text);
    await place.run(['ingest', 'docs', '--corpus', corpus]);
    const environment = {
      PAWL_ANSWERER: 'openai:m',
      PAWL_ANSWERER_URL: server.url,
      PAWL_ANSWERER_PRICE: '100/1000',
    };
    const shown = await place.run(['ask', corpus, question], { environment });
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(
      shown.stdout,
      /fourteen days\. \[1\] It opens at nine\. \[2\] Everybody knows\. \[no source\]/,
    );
    assert.match(shown.stdout, /^\[1\] .*docs\/refunds\.md$/m);
    assert.match(shown.stdout, /m · 2100 tokens · 0\.3 cents/);
    const json = await place.run(['ask', corpus, question, '--json'], { environment });
    assert.equal(JSON.parse(json.stdout).is_cached, true);
    const nothing = await place.run(['ask', corpus, 'zzqqxx'], { environment });
    assert.match(nothing.stdout, /The corpus does not have the answer\./);
    const off = await place.run(['ask', corpus, question]);
    assert.equal(off.code, 1);
    assert.match(off.stderr, /PAWL_ANSWERER=openai:MODEL/);
    assert.equal((await place.run(['ask'])).code, 64);
  });
});
