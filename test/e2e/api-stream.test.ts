/** Server-sent events over real connections, broken at random. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Bench, openBench } from './api-client.ts';

const seed = Number(process.env.PAWL_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** A small seeded generator, so that a run can be repeated. */
function chance(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Seen {
  readonly id: number;
  readonly kind: string;
  readonly status?: string;
}

/** Reads the stream until it ends or enough events have arrived; returns them. */
async function read(url: string, after: number | undefined, most: number): Promise<Seen[]> {
  const headers = after === undefined ? {} : { 'last-event-id': String(after) };
  const response = await fetch(url, { headers });
  if (response.status === 204) return [];
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const seen: Seen[] = [];
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id] = /^id: (\d+)$/m.exec(block) ?? [];
      const [, body = '{}'] = /^data: (.*)$/m.exec(block) ?? [];
      if (id === undefined) continue;
      seen.push({ id: Number(id), ...JSON.parse(body) });
      // Leaving the loop closes the connection.
      if (seen.length >= most) return seen;
    }
  }
  return seen;
}

async function history(bench: Bench, id: string): Promise<number[]> {
  const { body } = await bench.ask<{ items: { seq: number }[]; has_more: boolean }>(
    'GET /jobs/:id/events',
    { params: { id } },
  );
  assert.equal(body.has_more, false);
  return body.items.map(({ seq }) => seq);
}

describe('GET /jobs/{id}/stream', () => {
  test(`100 randomly disconnected clients see every event once (seed ${seed})`, async (t) => {
    const bench = await openBench(t);
    const random = chance(seed);
    const documents = Array.from({ length: 25 }, (_, index) => ({ text: `The heron ${index}.` }));
    const id = await bench.submit({ corpus_name: 'a', documents });
    const url = `${bench.service.address}/jobs/${id}/stream`;
    const follow = async (): Promise<number[]> => {
      const seen: Seen[] = [];
      for (;;) {
        const part = await read(url, seen.at(-1)?.id, 1 + Math.floor(random() * 120));
        seen.push(...part);
        if (part.length === 0 || part.at(-1)?.kind === 'job_succeeded') break;
      }
      return seen.map((event) => event.id);
    };
    const clients = await Promise.all(Array.from({ length: 100 }, follow));
    const expected = await history(bench, id);
    assert.ok(expected.length > 200);
    for (const ids of clients) assert.deepEqual(ids, expected);
  });

  test('ends after the event that ends the job, which has the status', async (t) => {
    const bench = await openBench(t);
    const id = await bench.submit({ corpus_name: 'a', documents: [{ text: 'A heron.' }] });
    const url = `${bench.service.address}/jobs/${id}/stream`;
    const seen = await read(url, undefined, 1000);
    assert.deepEqual([seen.at(-1)?.kind, seen.at(-1)?.status], ['job_succeeded', 'done']);
    const last = String(seen.at(-1)?.id);
    const again = await fetch(url, { headers: { 'last-event-id': last } });
    assert.equal(again.status, 204);
    const from = await read(`${url}?after=${seen[2]?.id}`, undefined, 1000);
    assert.deepEqual(from, seen.slice(3));
  });

  test('refuses an invalid position, and an unknown job', async (t) => {
    const bench = await openBench(t, { work: false });
    const id = await bench.submit({ corpus_name: 'a', documents: [{ text: 'A heron.' }] });
    for (const place of ['-1', 'abc', '1e309', '9'.repeat(30)]) {
      const headers = { 'last-event-id': place };
      const answer = await bench.ask('GET /jobs/:id/stream', { params: { id }, headers });
      assert.deepEqual([answer.status, answer.body.code], [400, 'bad_request'], place);
    }
    const unknown = await bench.ask('GET /jobs/:id/stream', { params: { id: 'x' } });
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'job_unknown']);
  });
});
