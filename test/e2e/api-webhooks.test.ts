/** Webhooks, as a receiver on another port sees them. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import type { ServiceOptions } from '../../src/app/role/service.ts';
import { realWorld } from '../../src/app/world.ts';
import type { Delivery } from '../../src/contract/schema/schema.ts';
import { open } from '../../src/index.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';

const webhookSecret = 'a-secret-for-webhooks-of-this-test';
const document = { corpus_name: 'a', documents: [{ id: 'x', text: 'A heron waits.' }] };

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function setup(
  t: TestContext,
  { statuses = [], ...options }: Partial<ServiceOptions> & { statuses?: number[] } = {},
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(pieces).toString() });
      response.writeHead(statuses.shift() ?? 204, { location: 'http://127.0.0.1:1/' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bench = await openBench(t, { webhookSecret, allowHosts: [host], ...options });
  const webhook_url = `http://${host}/hook?token=hidden-token`;
  return { bench, received, webhook_url };
}

async function deliveriesOf({ ask }: Bench, id: string): Promise<Delivery[]> {
  const { body } = await ask<{ items: Delivery[] }>('GET /jobs/:id/deliveries', { params: { id } });
  return body.items;
}

async function settled(bench: Bench, id: string): Promise<Delivery> {
  let found: Delivery | undefined;
  await until(
    async () => {
      [found] = await deliveriesOf(bench, id);
      return found !== undefined && found.state !== 'pending';
    },
    { what: 'the delivery to end' },
  );
  return found as Delivery;
}

describe('a webhook', () => {
  test('reports the end of a job once, with a valid signature', async (t) => {
    const beganAt = Date.now();
    const { bench, received, webhook_url } = await setup(t);
    const id = await bench.submit({ ...document, webhook_url });
    const delivery = await settled(bench, id);
    assert.deepEqual([delivery.state, delivery.status, delivery.attempt], ['delivered', 204, 1]);
    assert.ok(!delivery.url.includes('hidden-token'));
    assert.equal(received.length, 1);
    const [{ headers, body }] = received as [Received];
    const told = JSON.parse(body);
    assert.deepEqual([told.type, told.data.job_id, told.data.items_done], ['job.succeeded', id, 1]);
    const { body: answer } = await bench.ask<{ secret: string }>('GET /webhooks/secret');
    const secret = Buffer.from(answer.secret.replace('whsec_', ''), 'base64');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const expected = createHmac('sha256', secret).update(signed).digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${expected}`);
    assert.equal(headers['webhook-id'], delivery.delivery_id);
    const sentAt = Number(headers['webhook-timestamp']);
    assert.ok(sentAt >= Math.floor(beganAt / 1000) && sentAt <= Date.now() / 1000);
  });

  test('is retried under one id until it is accepted, and sent again on request', async (t) => {
    const world = { ...realWorld(), random: () => 0 };
    const { bench, received, webhook_url } = await setup(t, { statuses: [500, 302], world });
    const id = await bench.submit({ ...document, webhook_url });
    const delivery = await settled(bench, id);
    assert.deepEqual([delivery.state, delivery.attempt], ['delivered', 3]);
    const params = { id, delivery: delivery.delivery_id };
    const replay = await bench.ask('POST /jobs/:id/deliveries/:delivery/replay', { params });
    assert.equal(replay.status, 202);
    await until(() => received.length === 4, { what: 'the replay' });
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1);
    const unknown = { params: { id, delivery: 'msg_none' } };
    const refused = await bench.ask('POST /jobs/:id/deliveries/:delivery/replay', unknown);
    assert.deepEqual([refused.status, refused.body.code], [404, 'delivery_unknown']);
  });

  test('is not retried if its receiver is gone', async (t) => {
    const { bench, webhook_url } = await setup(t, { statuses: [410] });
    const { state, attempt, error } = await settled(
      bench,
      await bench.submit({ ...document, webhook_url }),
    );
    assert.deepEqual([state, attempt, error], ['failed', 1, 'http_410']);
  });

  test('continues after a restart from the last read event', async (t) => {
    const data = temporaryDirectory(t);
    const { bench, received, webhook_url } = await setup(t, { data, work: false });
    const id = await bench.submit({ ...document, webhook_url });
    await bench.service.close();
    const pawl = await open({ data, work: false });
    await (await pawl.job(id)).cancel();
    await pawl.close();
    const allowHosts = [new URL(webhook_url).host];
    await openBench(t, { data, work: false, webhookSecret, allowHosts });
    await until(() => received.length === 1, { what: 'the end of the canceled job' });
    assert.equal(JSON.parse(received[0]?.body ?? '').type, 'job.canceled');
  });

  test('is never sent to a private address, and needs a secret', async (t) => {
    const { bench } = await setup(t);
    for (const url of ['http://127.0.0.1:9/', 'http://169.254.169.254/', 'http://[::1]/x']) {
      const { status, body } = await bench.ask('POST /jobs', {
        body: { ...document, webhook_url: url },
      });
      assert.deepEqual([status, body.code], [403, 'private_address'], url);
    }
    const { ask } = await openBench(t, { work: false });
    const body = { ...document, webhook_url: 'https://example.com/hook' };
    const answer = await ask('POST /jobs', { body });
    assert.deepEqual([answer.status, answer.body.code], [409, 'action_not_allowed']);
  });
});
