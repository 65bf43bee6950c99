/** `pawl doctor` on models and batch providers: its requests and its findings. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { lastingPort } from '../support/server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { type CommandRunner, openRunner } from './pawl-process.ts';

const key = 'a-very-secret-key';

/** Returns its list to clients with the key, and nothing else. */
async function openProvider(t: Cleanup, status = 200) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const target = String(request.headers['x-amz-target'] ?? '');
    asked.push([request.method, request.url, target].filter(Boolean).join(' '));
    const isKnown = JSON.stringify(request.headers).includes(key) || target !== '';
    const body = { data: [{ id: 'embed-small' }, { id: 'finder:latest' }] };
    response.writeHead(isKnown ? status : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function look(place: CommandRunner, environment: Record<string, string>) {
  const { code, stdout, stderr } = await place.run(['doctor', '--json'], { environment });
  assert.doesNotMatch(stdout + stderr, new RegExp(key));
  const findings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<'check' | 'verdict' | 'found' | 'advice', string>);
  const of = (check: string) => findings.find((finding) => finding.check === check);
  return { code, of };
}

describe('pawl doctor', { concurrency: 2 }, () => {
  test('checks the local models', async (t) => {
    const { code, of } = await look(openRunner(t), {});
    assert.equal(code, 0);
    assert.match(of('embedder')?.found ?? '', /^static-\d+, on this machine$/);
    assert.match(of('extractor')?.found ?? '', /rules and word lists/);
  });

  test('requests the model lists of servers, and nothing that costs money', async (t) => {
    const { url, asked } = await openProvider(t);
    const environment = {
      ...{ PAWL_EMBEDDER: 'openai:embed-small@8', PAWL_EMBEDDER_URL: `${url}/v1` },
      ...{ PAWL_EXTRACTOR: 'openai:finder', PAWL_EXTRACTOR_URL: `${url}/v1/` },
      ...{ PAWL_EMBEDDER_KEY: key, PAWL_EXTRACTOR_KEY: key },
    };
    const place = openRunner(t);
    const well = await look(place, environment);
    assert.equal(well.code, 0);
    assert.match(well.of('embedder')?.found ?? '', /lists embed-small/);
    assert.match(well.of('extractor')?.found ?? '', /lists finder/);
    assert.deepEqual(asked, ['GET /v1/models', 'GET /v1/models']);
    const strange = await look(place, { ...environment, PAWL_EMBEDDER: 'openai:other' });
    assert.deepEqual([strange.code, strange.of('embedder')?.verdict], [0, 'warn']);
    const refused = await look(place, { ...environment, PAWL_EMBEDDER_KEY: 'another' });
    assert.equal(refused.code, 1);
    assert.match(refused.of('embedder')?.found ?? '', /refused the key \(401\)/);
    assert.equal(refused.of('extractor')?.verdict, 'ok');
    assert.equal(refused.of('store')?.verdict, 'ok');
  });

  test('distinguishes a server without a list from an unreachable one', async (t) => {
    const { url } = await openProvider(t, 404);
    const place = openRunner(t);
    const environment = { PAWL_EMBEDDER: 'openai:embed-small', PAWL_EMBEDDER_KEY: key };
    const mute = await look(place, { ...environment, PAWL_EMBEDDER_URL: url });
    assert.match(mute.of('embedder')?.found ?? '', /has no list of models/);
    assert.equal(mute.code, 0);
    const nobody = `http://127.0.0.1:${await lastingPort()}/v1`;
    const away = await look(place, { ...environment, PAWL_EMBEDDER_URL: nobody });
    assert.equal(away.code, 1);
    assert.match(away.of('embedder')?.found ?? '', /could not be asked .*ECONNREFUSED/);
    assert.match(away.of('embedder')?.advice ?? '', /\.$/);
  });

  test('requests the job list of each batch provider, and starts no job', async (t) => {
    const { url, asked } = await openProvider(t);
    const place = openRunner(t);
    const aws = { region: 'eu-west-1', access_key_id: 'id', secret_access_key: key, buckets: [] };
    const entries = {
      ...{ azure: { url, key }, aws: { ...aws, url }, sarvam: { url, key } },
      ...{ openai: { url, key }, gemini: { url, key }, anthropic: { url, key: 'another' } },
    };
    const file = place.write('providers.json', JSON.stringify(entries));
    const { code, of } = await look(place, { PAWL_BATCH_PROVIDERS: file });
    assert.equal(code, 1);
    for (const name of ['AZURE', 'AWS', 'OPENAI', 'GEMINI']) {
      assert.match(of(name)?.found ?? '', /^its list of .* was asked for$/, name);
    }
    assert.match(of('SARVAM')?.found ?? '', /^not checked/);
    assert.match(of('ANTHROPIC')?.found ?? '', /answered 401/);
    assert.deepEqual(asked.sort(), [
      'GET /batches?limit=1',
      'GET /speechtotext/transcriptions?api-version=2024-11-15&top=1',
      'GET /v1/messages/batches?limit=1',
      'GET /v1beta/batches?pageSize=1',
      'POST / Transcribe.ListTranscriptionJobs',
    ]);
  });

  test('reports errors in the file of batch providers, and checks the rest', async (t) => {
    const place = openRunner(t);
    const file = place.write('providers.json', '{ "openai": {} }');
    const { code, of } = await look(place, { PAWL_BATCH_PROVIDERS: file });
    assert.equal(code, 1);
    assert.match(of('batch')?.found ?? '', /batch provider openai needs a text for key/);
    assert.deepEqual([of('store')?.verdict, of('embedder')?.verdict], ['ok', 'ok']);
  });
});
