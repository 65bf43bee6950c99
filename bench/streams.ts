/**
 * A thousand clients on one job. Each is disconnected after a random number of events and
 * reconnects with the last one it saw, repeatedly, until the job has ended; then what it saw is
 * compared with the history. The memory is the server's, with all of them connected and idle.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { type Started, start } from './api.ts';
import type { Section } from './measure/figure.ts';

const key = 'a-key-for-the-measurement-of-streams';
/** How often a client's connection may break on its own. */
const brokenMax = 1000;
const headers = { 'x-api-key': key, 'content-type': 'application/json' };

export async function benchStreams(options: {
  isQuick: boolean;
  tell: (line: string) => void;
}): Promise<Section> {
  const clients = options.isQuick ? 100 : 1000;
  const seed = Math.floor(Math.random() * 2 ** 31);
  options.tell(`streams: ${clients} clients (seed ${seed})`);
  const agent = new Agent({ connections: clients + 10 });
  const idle = await start('pawl', key);
  const perClient = await memoryPerClient(idle, clients, agent);
  const server = await start('working', key);
  const id = await submit(server, 40, agent);
  const random = chance(seed);
  const seen = await Promise.all(
    Array.from({ length: clients }, () => follow(server, { id, random, agent })),
  );
  const expected = (await history(server, id, agent)).join();
  const whole = seen.filter((ids) => ids.join() === expected).length;
  await agent.destroy();
  for (const { child } of [idle, server]) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  return {
    title: `${clients} clients on one job`,
    note: `Broken off at random, and resumed (seed ${seed}).`,
    figures: [
      { name: 'saw every event once', value: whole, digits: 0, target: { atLeast: clients } },
      {
        name: 'memory for a client',
        value: perClient / 1024,
        digits: 1,
        unit: 'KiB',
        target: { atMost: 64 },
      },
    ],
  };
}

async function submit({ address }: Started, documents: number, agent: Agent): Promise<string> {
  const texts = Array.from({ length: documents }, (_, at) => ({ text: `The heron ${at} waits.` }));
  const body = JSON.stringify({ corpus_name: 'a', documents: texts });
  const answer = await request(`${address}/jobs`, {
    ...{ method: 'POST', headers, body, dispatcher: agent },
  });
  return ((await answer.body.json()) as { job_id: string }).job_id;
}

/** The job stays queued, so that only heartbeats are sent. */
async function memoryPerClient(server: Started, clients: number, agent: Agent): Promise<number> {
  const id = await submit(server, 1, agent);
  const open = () => request(`${server.address}/jobs/${id}/stream`, { headers, dispatcher: agent });
  for (const { body } of [await open()]) body.destroy();
  const before = residentBytes(server);
  const tried = await Promise.allSettled(Array.from({ length: clients }, open));
  const after = residentBytes(server);
  const opened = tried.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const streams = opened.filter(({ statusCode }) => statusCode === 200);
  for (const { body } of opened) body.on('error', () => undefined).destroy();
  if (streams.length < clients * 0.9) throw new Error(`only ${streams.length} streams were open`);
  return Math.max(after - before, 0) / streams.length;
}

interface Following {
  readonly id: string;
  readonly random: () => number;
  readonly agent: Agent;
}

async function follow(server: Started, { id, random, agent }: Following): Promise<number[]> {
  const seen: number[] = [];
  for (let broken = 0; broken < brokenMax; ) {
    const most = 1 + Math.floor(random() * 200);
    const last = seen.at(-1);
    try {
      const { statusCode, body } = await request(`${server.address}/jobs/${id}/stream`, {
        headers: { ...headers, ...(last !== undefined && { 'last-event-id': String(last) }) },
        dispatcher: agent,
      });
      if (statusCode === 204) return seen;
      // A disconnected client may still count for a moment: then the server asks to come back.
      if (statusCode === 200) await readSome(body, most, seen);
      else broken += 1;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      // The connection broke, as for real clients: what was seen is kept.
      broken += 1;
    }
  }
  return seen;
}

/** Reads so many events, or until the stream ends, and adds them to `seen`. */
async function readSome(body: AsyncIterable<Buffer>, most: number, seen: number[]): Promise<void> {
  const end = seen.length + most;
  let text = '';
  for await (const piece of body) {
    text += piece.toString('latin1');
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id] = /^id: (\d+)$/m.exec(block) ?? [];
      if (id !== undefined) seen.push(Number(id));
      // Leaving the loop closes the connection.
      if (seen.length >= end) return;
    }
  }
}

async function history({ address }: Started, id: string, agent: Agent): Promise<number[]> {
  const answer = await request(`${address}/jobs/${id}/events`, { headers, dispatcher: agent });
  const { items, has_more } = (await answer.body.json()) as {
    items: { seq: number }[];
    has_more: boolean;
  };
  if (has_more) throw new Error('the history is longer than a page');
  return items.map(({ seq }) => seq);
}

function residentBytes({ child }: Started): number {
  const [, pages = '0'] = readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ');
  return Number(pages) * 4096;
}

function chance(start_: number): () => number {
  let state = start_ >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
