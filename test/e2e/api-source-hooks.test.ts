/** Signed messages that say that a source has changed. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { mapKind } from '../../examples/own-source.ts';
import type { ServiceOptions } from '../../src/app/role/service.ts';
import type { SyncRun } from '../../src/contract/schema/source.ts';
import type { SourceKind } from '../../src/index.ts';
import { writeOld } from '../support/sync-scene.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';

interface Sent {
  readonly status: number;
  readonly detail?: string;
}

const seconds = (): number => Math.floor(Date.now() / 1000);

interface SetupOptions extends Partial<ServiceOptions> {
  readonly kind?: string;
}

async function setup(t: TestContext, { kind = 'folder', ...options }: SetupOptions = {}) {
  const folder = join(temporaryDirectory(t), 'docs');
  writeOld(folder, 'a.md', '# A\n\nThe heron waits.');
  const bench = await openBench(t, options);
  const params = { name: 'docs' };
  const body = { corpus_name: 'docs', kind, location: folder, name: 'docs' };
  assert.equal((await bench.ask('POST /sources', { body })).status, 201);
  const hook = await bench.ask<{ path: string; secret: string }>('POST /sources/:name/webhook', {
    params,
  });
  const { path, secret } = hook.body;
  const send = async (
    text: string,
    headers: Record<string, string>,
    to = `${bench.service.address}${path}`,
  ): Promise<Sent> => {
    const type = { 'content-type': 'application/json' };
    const response = await fetch(to, {
      method: 'POST',
      body: text,
      headers: { ...type, ...headers },
    });
    const { detail } = (await response.json()) as { detail?: string };
    return { status: response.status, ...(detail !== undefined && { detail }) };
  };
  const runs = async (): Promise<SyncRun[]> => {
    const answer = await bench.ask<{ items: SyncRun[] }>('GET /sources/:name/runs', { params });
    return answer.body.items;
  };
  return { bench, folder, params, path, secret, send, runs };
}

interface Gate {
  readonly promise: Promise<void>;
  isReached: boolean;
}

/** Its listing waits at the gate. */
function gatedKind(gate: Gate): SourceKind {
  const kind = mapKind(new Map([['a.md', 'The heron waits.']]));
  const list: SourceKind['list'] = async function* (place, from) {
    gate.isReached = true;
    await gate.promise;
    yield* kind.list(place, from);
  };
  return { ...kind, name: 'gated', list };
}

/** As Standard Webhooks sign. */
function standard(secret: string, text: string, { id = 'msg_1', at = seconds() } = {}) {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${at}.${text}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${mac}`,
  };
}

/** As git hosts sign. */
function hub(secret: string, text: string) {
  const mac = createHmac('sha256', secret).update(text).digest('hex');
  return { 'x-hub-signature-256': `sha256=${mac}` };
}

describe('a signed message that a source has changed', () => {
  test('starts a run, in the form of Standard Webhooks and of git hosts', async (t) => {
    const { secret, send, runs } = await setup(t);
    const signed = [standard(secret, '{}'), hub(secret, '{"ref":"refs/heads/main"}')];
    const texts = ['{}', '{"ref":"refs/heads/main"}'];
    for (const [index, headers] of signed.entries()) {
      assert.deepEqual(await send(texts[index] as string, headers), { status: 202 });
      await until(
        async () => {
          const [newest] = await runs();
          return newest?.cause === 'webhook' && newest.ended_at !== null;
        },
        { what: 'the end of the run' },
      );
    }
    const causes = (await runs()).map(({ cause }) => cause);
    assert.deepEqual(causes, ['webhook', 'webhook']);
  });

  test('may be a form, or have no body', async (t) => {
    const { bench, path, secret } = await setup(t);
    const to = `${bench.service.address}${path}`;
    const form = new URLSearchParams({ payload: '{}' });
    const byForm = { method: 'POST', body: form, headers: hub(secret, form.toString()) };
    assert.equal((await fetch(to, byForm)).status, 202);
    assert.equal((await fetch(to, { method: 'POST', headers: hub(secret, '') })).status, 202);
    const elsewhere = `${bench.service.address}/search`;
    assert.equal((await fetch(elsewhere, { method: 'POST', body: form })).status, 415);
  });

  test('is refused if it is repeated, old, changed, unsigned or sent elsewhere', async (t) => {
    const { bench, secret, send, runs } = await setup(t);
    const first = standard(secret, '{}');
    assert.equal((await send('{}', first)).status, 202);
    const github = hub(secret, '{"push":1}');
    assert.equal((await send('{"push":1}', github)).status, 202);
    const before = (await runs()).length;
    const refused: readonly [text: string, headers: Record<string, string>, to?: string][] = [
      ['{}', first],
      ['{"push":1}', github],
      ['{"push":2}', github],
      ['{} ', standard(secret, '{}', { id: 'msg_2' })],
      ['{}', { ...standard(secret, '{}', { id: 'msg_3' }), 'webhook-id': 'msg_4' }],
      ['{}', standard(secret, '{}', { id: 'msg_5', at: seconds() - 3600 })],
      ['{}', standard(secret, '{}', { id: 'msg_6', at: seconds() + 3600 })],
      ['{}', standard('whsec_b3RoZXI=', '{}', { id: 'msg_7' })],
      ['{}', hub('', '{}')],
      ['{}', { 'x-hub-signature-256': 'sha256=' }],
      ['{}', {}],
      ['{}', hub(secret, '{}'), `${bench.service.address}/hooks/0198c1d2`],
    ];
    for (const [text, headers, to] of refused) {
      const sent = await send(text, headers, to);
      assert.equal(sent.status, 403, JSON.stringify(headers));
      assert.match(sent.detail ?? '', /the signature does not match|was received before/);
    }
    assert.equal((await runs()).length, before);
  });

  test('in a burst starts one run, which follows the one in progress', async (t) => {
    const gate = { ...Promise.withResolvers<void>(), isReached: false };
    t.after(() => gate.resolve());
    const { bench, secret, send, runs, params } = await setup(t, {
      kind: 'gated',
      sourceKinds: [gatedKind(gate)],
    });
    const first = await bench.ask('POST /sources/:name/run', { params, body: {} });
    await until(async () => (await runs())[0]?.state === 'listing', { what: 'a run that lists' });
    await until(() => gate.isReached, { what: 'the listing' });
    const messages = Array.from({ length: 40 }, (_, n) => standard(secret, '{}', { id: `m${n}` }));
    const sent = await Promise.all(messages.map((headers) => send('{}', headers)));
    assert.ok(sent.every(({ status }) => status === 202));
    const [next, running, ...others] = await runs();
    assert.deepEqual([running?.run_id, others.length], [first.body.run_id, 0]);
    assert.equal(next?.cause, 'webhook');
  });

  test('of a paused source is refused, as is one to a replaced or closed address', async (t) => {
    const { bench, secret, send, params, path } = await setup(t);
    await bench.ask('POST /sources/:name/pause', { params });
    assert.equal((await send('{}', hub(secret, '{}'))).status, 409);
    await bench.ask('POST /sources/:name/resume', { params });
    // A refused message has no effect, so it may be sent again.
    assert.equal((await send('{}', hub(secret, '{}'))).status, 202);
    const next = await bench.ask<{ path: string }>('POST /sources/:name/webhook', { params });
    assert.notEqual(next.body.path, path);
    assert.equal((await send('{"a":1}', hub(secret, '{"a":1}'))).status, 403);
    const { body } = await bench.ask('GET /sources/:name', { params });
    assert.equal(body.webhook, next.body.path);
    const closed = await bench.ask('DELETE /sources/:name/webhook', { params });
    assert.equal(closed.body.webhook, null);
  });

  test('has a secret that is shown once', async (t) => {
    const { bench, secret, params } = await setup(t);
    const shown = await bench.ask('GET /sources/:name', { params });
    assert.ok(!JSON.stringify(shown.body).includes(secret));
    assert.ok(bench.lines.every((line) => !line.includes(secret)));
  });
});
