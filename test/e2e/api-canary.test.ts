/** Twelve secrets, planted where real ones are, appear in no output of the service. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startService } from '../../src/app/role/service.ts';
import { assertNoCanary, makeCanaries, type Output } from '../support/canary.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';

const seed = process.env.PAWL_TEST_SEED ?? String(Math.random());
const canaries = makeCanaries(seed);

async function listen(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service whose dependencies echo what they receive. */
async function setup(t: TestContext) {
  process.env.PAWL_TEST_PLANTED = canaries.environment;
  t.after(() => delete process.env.PAWL_TEST_PLANTED);
  const membership = await listen(t, (request, response) => {
    request.resume();
    const claims = { tier: 'pro', note: canaries.membership_reply };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(claims));
  });
  const provider = await listen(t, (request, response) => {
    const message = `no quota for ${request.headers.authorization}`;
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message, code: 'invalid_api_key' } }));
  });
  const site = await listen(t, (request, response) => {
    response.writeHead(404).end(`nothing at ${request.url} for ${request.headers.cookie}`);
  });
  const receiver = await listen(t, (_, response) => {
    response.writeHead(500).end(canaries.callback_secret);
  });
  const told: Output[] = [];
  const collector = await listen(t, (request, response) => {
    request.on('data', (content) => told.push({ where: 'the spans', content }));
    request.on('end', () => response.writeHead(200).end());
  });
  const write = (line: string): void => void told.push({ where: 'the log', content: line });
  const bench = await openBench(t, {
    data: temporaryDirectory(t),
    keys: { membershipUrl: `http://${membership}` },
    webhookSecret: canaries.callback_secret,
    otlpUrl: `http://${collector}`,
    allowHosts: [site, receiver],
    embedder: {
      choice: 'openai:a-model',
      url: `http://${provider}/v1`,
      key: canaries.provider_key,
      budget: { requestsPerMinute: 600, tokensPerMinute: 1e6 },
    },
    log: { level: 'debug', write },
  });
  return { bench, told, site, receiver };
}

const headers = {
  'x-api-key': canaries.api_key,
  authorization: `Bearer ${canaries.authorization}`,
  cookie: `session=${canaries.cookie}`,
};

test(`no planted secret leaves the service (seed ${seed})`, async (t) => {
  const { bench, told, site, receiver } = await setup(t);
  const tell = (where: string, content: unknown) => told.push({ where, content });
  const { address } = bench.service;
  const submit = async (body: object): Promise<string> => {
    const answer = await bench.ask('POST /jobs', { body, headers });
    tell('an answer', answer.body);
    return String(answer.body.job_id);
  };
  const webhook_url = `http://${receiver}/hook?token=${canaries.query_token}`;
  const texts = await submit({
    corpus_name: 'a',
    documents: [{ id: 'x', text: `The password is ${canaries.document_text}.` }],
    webhook_url,
  });
  const pages = await submit({
    corpus_name: 'a',
    url: `http://${site}/page?token=${canaries.query_token}`,
  });
  await submit({ corpus_name: 'a', url: `http://ann:${canaries.url_userinfo}@${site}/` });
  const form = new FormData();
  form.set('corpus_name', 'a');
  form.set('file', new Blob(['']), `${canaries.filename}.txt`);
  const uploaded = await fetch(`${address}/jobs/upload`, { method: 'POST', body: form, headers });
  const upload = ((await uploaded.json()) as { job_id: string }).job_id;
  for (const id of [texts, pages, upload]) {
    await (await fetch(`${address}/jobs/${id}/stream`, { headers })).text();
    const job = await bench.ask('GET /jobs/:id', { params: { id }, headers });
    assert.equal(job.body.status, 'failed');
    tell(`the error of ${id}`, job.body.error);
  }
  const params = { id: texts };
  const deliveries = async () =>
    (
      await bench.ask<{ items: { attempt: number }[] }>('GET /jobs/:id/deliveries', {
        params,
        headers,
      })
    ).body.items;
  await until(async () => ((await deliveries())[0]?.attempt ?? 0) >= 1, { what: 'the webhook' });
  tell('the deliveries', await deliveries());
  for (const body of [`{"${canaries.document_text}`, { [canaries.document_text]: 1 }, '[']) {
    tell('a refusal', (await bench.ask('POST /jobs', { body, headers })).body);
  }
  const query = { key: canaries.api_key };
  tell('a refusal', (await bench.ask('GET /jobs', { query, headers })).body);
  tell('the events', (await bench.ask('GET /events', { headers })).body);
  tell('the metrics', (await bench.ask('GET /metrics')).body);
  const database = `postgres://ann:${canaries.database_password}@127.0.0.1:1/none`;
  const log = { level: 'debug', write: (line: string) => tell('the log', line) } as const;
  const options = { data: temporaryDirectory(t), host: '127.0.0.1', port: 0, log, database };
  tell(
    'an error',
    await startService(options).catch((error: Error) => [error.message, error.stack]),
  );
  await bench.service.close();
  assert.ok(told.some(({ where }) => where === 'the spans'));
  assertNoCanary(canaries, told);
});
