/** Details of the published interfaces of single providers. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { makeProviders, type ProviderSettings } from '../../src/app/adapter/batch-providers.ts';
import { realWorld } from '../../src/app/world.ts';
import type { JsonObject } from '../../src/kernel/provider-state.ts';
import type { BatchProvider } from '../../src/provider/batch/batch-provider.ts';
import { signRequest } from '../../src/provider/batch/signature.ts';
import { AnthropicServer } from '../support/batch/anthropic-server.ts';
import { AzureServer } from '../support/batch/azure-server.ts';
import { BatchFixture, memoryBlobs } from '../support/batch/fixture.ts';
import { GeminiServer } from '../support/batch/gemini-server.ts';
import { type LineOutcome, OpenaiServer } from '../support/batch/openai-server.ts';
import { SarvamServer } from '../support/batch/sarvam-server.ts';
import { openSqliteMemory } from '../support/store-opener.ts';
import type { Cleanup } from '../support/temporary.ts';
import { completions, recordings } from './batch/submission.ts';

function configured(settings: ProviderSettings): Promise<BatchProvider[]> {
  return makeProviders(settings, { world: realWorld(), allowed: new Set(), blobs: memoryBlobs() });
}

async function finish(t: Cleanup, settings: ProviderSettings, body: unknown) {
  const fixture = new BatchFixture(await openSqliteMemory(t), await configured(settings));
  const key = await fixture.submit(body);
  await fixture.deliver();
  await fixture.poll(4);
  return { fixture, row: await fixture.task(key) };
}

describe('a proxy is used for everything that a provider links to', () => {
  test('Anthropic', async (t) => {
    const server = new AnthropicServer();
    await server.server.start(t);
    server.host = 'https://api.anthropic.com';
    const settings = { anthropic: { url: server.server.url, key: 'key' } };
    const { row } = await finish(t, settings, { ...completions, models: ['claude-haiku-4-5'] });
    assert.equal(row.state, 'completed', row.error ?? '');
  });

  test('Gemini, whose thoughts are charged as output', async (t) => {
    const server = new GeminiServer();
    await server.server.start(t);
    server.host = 'https://generativelanguage.googleapis.com';
    const settings = { gemini: { url: server.server.url, key: 'key' } };
    const { row } = await finish(t, settings, { ...completions, models: ['gemini-2.5-flash'] });
    assert.equal(row.state, 'completed', row.error ?? '');
    assert.deepEqual([row.tokens_in, row.tokens_out], [300, 960]);
  });

  test('Azure, in each of its clouds', async (t) => {
    const hosts = [
      'westus.api.cognitive.microsoft.com',
      'my-speech.cognitiveservices.azure.com',
      'usgovarizona.api.cognitive.microsoft.us',
      'chinaeast2.api.cognitive.azure.cn',
    ];
    for (const host of hosts) {
      const server = new AzureServer();
      await server.start(t);
      server.host = `https://${host}`;
      const settings = { azure: { url: server.server.url, key: 'key' } };
      const { row, fixture } = await finish(t, settings, recordings);
      assert.equal(row.state, 'completed', row.error ?? '');
      const [job] = (await fixture.state(row.key)).jobs;
      assert.equal(new URL(job?.external_job_id ?? '').host, host);
    }
  });

  test('Amazon, with a signature for the host that the proxy calls', async (t) => {
    const keys = { access_key_id: 'id', secret_access_key: 'secret', region: 'eu-west-1' };
    const host = 'transcribe.eu-west-1.amazonaws.com';
    const credentials = { accessKeyId: 'id', secretAccessKey: 'secret', region: 'eu-west-1' };
    const sent: { url: URL; headers: Record<string, string>; body: string }[] = [];
    t.mock.method(globalThis, 'fetch', async (url: URL, init: (typeof sent)[number]) => {
      sent.push({ ...init, url });
      return Response.json({});
    });
    const proxied = { ...keys, buckets: [], url: 'http://127.0.0.1:9/aws' };
    for (const entry of [proxied, { ...proxied, signed_host: host }]) {
      const [aws] = await configured({ aws: entry });
      await aws?.check?.(new AbortController().signal);
    }
    assert.deepEqual(
      sent.map(({ url }) => url.href),
      Array(2).fill('http://127.0.0.1:9/aws/'),
    );
    const isSignedFor = ({ headers, body }: (typeof sent)[number], url: string): boolean => {
      const { authorization, 'x-amz-date': date = '', ...rest } = headers;
      const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
      const now = Date.parse(date.replace(parts, '$1-$2-$3T$4:$5:$6Z'));
      const request = { method: 'POST', url: new URL(url), headers: rest, body };
      const signing = { credentials, service: 'transcribe', now };
      return signRequest(request, signing).authorization === authorization;
    };
    const [own, other] = sent;
    assert.ok(own && other);
    assert.equal(isSignedFor(own, 'http://127.0.0.1:9/aws/'), true);
    assert.equal(isSignedFor(other, `https://${host}/`), true);
    assert.equal(isSignedFor(other, 'http://127.0.0.1:9/aws/'), false);
  });

  test('a host that only begins like one of Azure gets no key', async (t) => {
    const server = new AzureServer();
    await server.start(t);
    server.host = 'https://westus.api.cognitive.microsoft.com.evil.example';
    const settings = { azure: { url: server.server.url, key: 'key' } };
    const { row } = await finish(t, settings, recordings);
    assert.match(row.wait_reason ?? '', /where its key does not belong/);
  });

  test('a link to any other host is not followed with the key', async (t) => {
    const server = new AnthropicServer();
    await server.server.start(t);
    server.host = 'https://api.anthropic.com.evil.example';
    const settings = { anthropic: { url: server.server.url, key: 'key' } };
    const body = { ...completions, models: ['claude-haiku-4-5'] };
    const { fixture, row } = await finish(t, settings, body);
    await fixture.poll();
    assert.match(
      (await fixture.task(row.key)).provider_state ?? '',
      /where its key does not belong/,
    );
  });
});

describe('Anthropic', () => {
  test('is asked for responses of the configured length', async (t) => {
    for (const [max_tokens, sent] of [
      [undefined, 8192],
      [4096, 4096],
    ]) {
      const server = new AnthropicServer();
      await server.server.start(t);
      const settings = { anthropic: { url: server.server.url, key: 'key', max_tokens } };
      await finish(t, settings, { ...completions, models: ['claude-haiku-4-5'] });
      const asked = server.batches.get('msgbatch_1')?.requests ?? [];
      assert.deepEqual(new Set(asked.map(({ params }) => params.max_tokens)), new Set([sent]));
    }
  });

  test('a response that was too long names the setting to raise', async (t) => {
    const server = new AnthropicServer();
    await server.server.start(t);
    server.stopReason = 'max_tokens';
    const settings = { anthropic: { url: server.server.url, key: 'key' } };
    const { row } = await finish(t, settings, { ...completions, models: ['claude-haiku-4-5'] });
    assert.match(row.error ?? '', /ended with max_tokens: raise max_tokens in the entry/);
  });
});

describe('models of a transcription', () => {
  test('are refused if the provider has none', async (t) => {
    const settings = { azure: { url: 'http://127.0.0.1:1', key: 'key' } };
    const fixture = new BatchFixture(await openSqliteMemory(t), await configured(settings));
    const refused = { message: 'AZURE cannot use whisper: omit models' };
    await assert.rejects(fixture.submit({ ...recordings, models: ['whisper'] }), refused);
  });

  test('are sent to Sarvam, one for a task', async (t) => {
    const server = new SarvamServer();
    await server.server.start(t);
    const settings = { sarvam: { url: server.server.url, key: 'key' } };
    const fixture = new BatchFixture(await openSqliteMemory(t), [
      ...(await configured(settings)).map((each) => ({ ...each, refuses: () => undefined })),
    ]);
    const body = { ...recordings, provider: 'SARVAM' };
    const models = ['saaras:v3', 'saarika:v2.5'];
    const refused = { message: /SARVAM cannot use .*: name at most 1 of models/ };
    await assert.rejects(fixture.submit({ ...body, models }), refused);
    const key = await fixture.submit({ ...body, models: ['saaras:v3'] });
    await fixture.deliver();
    assert.deepEqual(new Set(server.models), new Set(['saaras:v3']));
    assert.equal((await fixture.task(key)).caller, 'ann');
  });
});

describe('OpenAI', () => {
  const settingsOf = ({ url }: OpenaiServer) => ({ openai: { url, key: 'key' } });

  test('has no capacity for more tokens: the batch is submitted again later', async (t) => {
    const server = new OpenaiServer();
    await server.start(t);
    const fixture = new BatchFixture(
      await openSqliteMemory(t),
      await configured(settingsOf(server)),
    );
    server.pollsToGo = 0;
    server.lastStatus = 'failed';
    const message = 'Enqueued token limit reached. Please try again later.';
    server.errors = [{ code: 'token_limit_exceeded', message }];
    const key = await fixture.submit(completions);
    await fixture.deliver();
    await fixture.poll();
    const waiting = await fixture.task(key);
    assert.equal(waiting.state, 'in_progress');
    assert.match(waiting.wait_reason ?? '', /Enqueued token limit/);
    server.lastStatus = 'completed';
    await fixture.poll(4);
    const row = await fixture.task(key);
    assert.deepEqual([row.state, row.results_ok], ['completed', 3]);
    assert.equal(server.batches.size, 2);
    assert.equal(server.files.has('file-2'), false, 'the file is not uploaded again');
    assert.deepEqual([...server.charges().values()], [1, 1, 1]);
  });

  test('canceled or expired lines may be sent again; refused ones may not', async (t) => {
    const server = new OpenaiServer();
    await server.start(t);
    const outcomes = { one: 'cancelled', two: 'expired', three: { status: 400, message: 'no' } };
    const lines = new Map<string, LineOutcome>(Object.entries(outcomes) as [string, LineOutcome][]);
    server.answer = ({ custom_id: id }) => lines.get(id) ?? { content: 'yes' };
    const requests = [...completions.requests, { custom_id: 'four', input: 'Why?' }];
    const { fixture, row } = await finish(t, settingsOf(server), { ...completions, requests });
    const output = (await fixture.output(row.key)) as Record<string, { completions: JsonObject[] }>;
    const told = output['gpt-4o-mini']?.completions.map(({ id, retryable }) => [id, retryable]);
    assert.deepEqual(Object.fromEntries(told ?? []), {
      ...{ one: true, two: true, three: false, four: undefined },
    });
  });

  test('an empty account is not a rate limit: the task waits, and says what to do', async (t) => {
    const server = new OpenaiServer();
    await server.start(t);
    const fixture = new BatchFixture(
      await openSqliteMemory(t),
      await configured(settingsOf(server)),
    );
    const error = {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: 'You exceeded',
    };
    server.server.trouble({ on: /files$/, reply: { status: 429, body: { error } }, times: 10 });
    const key = await fixture.submit(completions);
    for (let attempt = 0; attempt < 9; attempt += 1) {
      await fixture.deliver();
      fixture.store.world.skip(3_600_000 * 1.2);
    }
    const row = await fixture.task(key);
    assert.equal(row.state, 'pending');
    assert.match(row.wait_reason ?? '', /insufficient_quota.*Top up the account/);
    assert.equal(row.attempt, 0);
  });
});

test('Google Speech in a region is called at the host of that region', async (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const entry = { project: 'p', client_email: 'a@p', private_key: key, buckets: [] };
  const hosts: string[] = [];
  t.mock.method(globalThis, 'fetch', async (url: URL) => {
    hosts.push(url.host);
    return Response.json({ access_token: 'token' });
  });
  for (const location of ['global', 'europe-west4']) {
    const [google] = await configured({ google: { ...entry, location } });
    await google?.check?.(new AbortController().signal);
  }
  const token = 'oauth2.googleapis.com';
  const speech = ['speech.googleapis.com', 'europe-west4-speech.googleapis.com'];
  assert.deepEqual(hosts, [token, speech[0], token, speech[1]]);
});
