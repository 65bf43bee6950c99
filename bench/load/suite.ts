/**
 * A service under load: one client that searches while nothing else happens, one beside an ingest
 * at full speed, and many beside an ingest, with as many streams. All share the machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, FormData, request } from 'undici';
import { until } from '../../test/support/wait.ts';
import type { Figure, Section, Table } from '../measure/figure.ts';
import { percentile } from '../measure/reading.ts';
import { chanceFrom, pageOf } from '../pipeline/pages.ts';
import { pawlFlags } from '../pipeline/suite.ts';
import { type Following, follow, type Searched, searchUntil, type Target } from './clients.ts';

export interface LoadOptions {
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

const loads = {
  quick: { first: 300, pages: 400, idleSeconds: 2 },
  full: { first: 1000, pages: 3000, idleSeconds: 10 },
} as const;
const clientsMany = 50;
const pagesPerUpload = 200;
const articleWords = 400;
const corpus = 'load';
const sampleMs = 500;

export async function benchLoad({ isQuick, tell }: LoadOptions): Promise<Section[]> {
  const { first, pages, idleSeconds } = loads[isQuick ? 'quick' : 'full'];
  const server = await startServer();
  const page = pagesFrom(1);
  try {
    tell(`load: ${first} pages to search in`);
    await ingest(server.target, page, first);
    await searchUntil(server.target, { clients: 1, ended: AbortSignal.timeout(500) });
    const phases: Phase[] = [];
    const take = async (name: string, size: Size): Promise<void> => {
      const phase = await measurePhase(server, { name, ...size, page });
      phases.push(phase);
      tell(lineOf(phase).join(' · '));
    };
    await take('one client, idle', { clients: 1, streams: 0, pages: 0, idleSeconds });
    await take('one client, ingest', { clients: 1, streams: 0, pages, idleSeconds });
    await take(`${clientsMany} clients, idle`, {
      ...{ clients: clientsMany, streams: 0, pages: 0, idleSeconds },
    });
    await take(`${clientsMany} clients, ${clientsMany} streams, ingest`, {
      ...{ clients: clientsMany, streams: clientsMany, pages, idleSeconds },
    });
    return [sectionOf(phases)];
  } finally {
    await server.stop();
  }
}

interface Size {
  readonly clients: number;
  readonly streams: number;
  /** The documents that are ingested meanwhile. 0: it lasts as long as `idleSeconds`. */
  readonly pages: number;
  readonly idleSeconds: number;
}

interface Phase extends Searched, Usage {
  readonly name: string;
  readonly seconds: number;
  readonly pages: number;
  readonly missed: number;
  /** Resident memory of the server at each sample, in MiB. */
  readonly memory: readonly number[];
}

async function measurePhase(
  server: Server,
  { name, clients, streams, pages, idleSeconds, page }: Size & { name: string; page: () => string },
): Promise<Phase> {
  const { target } = server;
  const [searching, following] = [new AbortController(), new AbortController()];
  const before = await lastEvent(target, 0);
  const followers = Array.from({ length: streams }, () => follow(target, following.signal));
  const memory: number[] = [];
  const sampler = setInterval(() => memory.push(server.residentMiB()), sampleMs);
  await server.usage();
  const startedAt = performance.now();
  const searched = searchUntil(target, { clients, ended: searching.signal });
  if (pages === 0) await pause(idleSeconds * 1000);
  else await ingest(target, page, pages);
  const seconds = (performance.now() - startedAt) / 1000;
  searching.abort();
  const found = await searched;
  const usage = await server.usage();
  clearInterval(sampler);
  const missed = streams === 0 ? 0 : await countMissed(target, followers, before);
  following.abort();
  return { name, seconds, pages, missed, memory, ...usage, ...found };
}

/** Events that a stream did not get, or got twice or out of order. */
async function countMissed(
  target: Target,
  followers: readonly Following[],
  before: number,
): Promise<number> {
  const expected = await eventsAfter(target, before);
  const last = expected.at(-1) ?? before;
  // More events may follow, of work in the background.
  const isThere = ({ seen, failure }: Following) =>
    failure !== undefined || (seen.at(-1) ?? 0) >= last;
  await until(() => followers.every(isThere) || undefined, { what: 'the streams to catch up' });
  const wanted = expected.join();
  let missed = 0;
  for (const { seen, failure } of followers) {
    if (failure !== undefined) throw new Error(failure);
    const own = seen.filter((seq) => seq > before && seq <= last);
    if (own.join() === wanted) continue;
    const had = new Set(own);
    missed += Math.max(expected.filter((seq) => !had.has(seq)).length, 1);
  }
  return missed;
}

async function eventsAfter(target: Target, after: number): Promise<number[]> {
  const all: number[] = [];
  for (let from = after; ; ) {
    const { items, has_more } = await ask<{ items: { seq: number }[]; has_more: boolean }>(
      target,
      `/events?after=${from}&limit=1000`,
    );
    all.push(...items.map(({ seq }) => seq));
    const last = all.at(-1);
    if (!has_more || last === undefined) return all;
    from = last;
  }
}

async function lastEvent(target: Target, after: number): Promise<number> {
  return (await eventsAfter(target, after)).at(-1) ?? after;
}

/** Uploads so many pages, and waits until all of them are searchable. */
async function ingest(target: Target, page: () => string, count: number): Promise<void> {
  const jobs: string[] = [];
  for (let from = 0; from < count; from += pagesPerUpload) {
    const form = new FormData();
    form.set('corpus_name', corpus);
    for (let at = from; at < Math.min(from + pagesPerUpload, count); at++) {
      const text = page();
      form.append('file', new Blob([text], { type: 'text/html' }), nameOf(text));
    }
    const { job_id } = await ask<{ job_id: string }>(target, '/jobs/upload', form);
    jobs.push(job_id);
  }
  for (const job of jobs) await untilDone(target, job);
}

function nameOf(page: string): string {
  const [, number = ''] = /Anna Weber, (\d+)/.exec(page) ?? [];
  return `page-${number}.html`;
}

async function untilDone(target: Target, job: string): Promise<void> {
  const look = async (): Promise<true | undefined> => {
    const { state } = await ask<{ state: string }>(target, `/jobs/${job}`);
    if (state === 'failed' || state === 'canceled') throw new Error(`job ${job} is ${state}`);
    return state === 'succeeded' || undefined;
  };
  await until(look, { what: `job ${job} to end`, intervalMs: 50, patienceMs: 1_200_000 });
}

async function ask<Answer>({ address, key, agent }: Target, path: string, form?: FormData) {
  const answer = await request(`${address}${path}`, {
    headers: { 'x-api-key': key },
    dispatcher: agent,
    ...(form && { method: 'POST', body: form }),
  });
  if (answer.statusCode >= 300) {
    throw new Error(`${path}: ${answer.statusCode} ${await answer.body.text()}`);
  }
  return (await answer.body.json()) as Answer;
}

function pagesFrom(seed: number): () => string {
  const chance = chanceFrom(seed);
  let index = 0;
  return () => pageOf(index++, articleWords, chance);
}

interface Usage {
  readonly heldMs: number;
  readonly heldP99Ms: number;
  readonly cpuMs: number;
}

interface Server {
  readonly target: Target;
  /** Since the last call. */
  usage(): Promise<Usage>;
  residentMiB(): number;
  stop(): Promise<void>;
}

async function startServer(): Promise<Server> {
  const data = mkdtempSync(join(tmpdir(), 'pawl-load-'));
  const key = randomBytes(24).toString('hex');
  const script = fileURLToPath(new URL('./server.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [...pawlFlags(), script, key, data], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('the server has no pipes');
  const lines = createInterface({ input: stdout });
  const nextLine = async (): Promise<string> => String((await once(lines, 'line'))[0]);
  const address = await nextLine();
  const agent = new Agent({ connections: 2 * clientsMany + 10, bodyTimeout: 0 });
  return {
    target: { address, key, agent, corpus },
    usage: async () => {
      const line = nextLine();
      stdin.write('\n');
      return JSON.parse(await line) as Usage;
    },
    residentMiB: () => {
      const [, pages = '0'] = readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ');
      return (Number(pages) * 4096) / 2 ** 20;
    },
    stop: async () => {
      await agent.destroy();
      const exit = once(child, 'exit');
      stdin.end();
      await exit;
      rmSync(data, { recursive: true, force: true });
    },
  };
}

function lineOf(phase: Phase): string[] {
  const { name, times, errors, missed, seconds, pages, memory, heldMs, cpuMs } = phase;
  const [early = 0] = memory;
  return [
    name,
    percentile(times, 0.5).toFixed(0),
    percentile(times, 0.99).toFixed(0),
    (times.length / seconds).toFixed(0),
    pages === 0 ? '–' : (pages / seconds).toFixed(0),
    String(errors.length),
    String(missed),
    heldMs.toFixed(0),
    `${early.toFixed(0)}–${Math.max(...memory).toFixed(0)}`,
    (cpuMs / 1000 / seconds).toFixed(2),
  ];
}

function sectionOf(phases: readonly Phase[]): Section {
  const table: Table = {
    head: [
      'load',
      'p50 ms',
      'p99 ms',
      'searches/s',
      'documents/s',
      'errors',
      'events missed',
      'loop held ms',
      'memory MiB',
      'cores',
    ],
    rows: phases.map(lineOf),
  };
  const last = phases.at(-1) as Phase;
  const figures: Figure[] = [
    {
      name: 'the slowest of 100 searches under full load',
      value: percentile(last.times, 0.99),
      ...{ digits: 0, unit: 'ms', target: { atMost: 250 } },
    },
    { name: 'errors', value: last.errors.length, digits: 0, target: { atMost: 0 } },
    { name: 'events missed', value: last.missed, digits: 0, target: { atMost: 0 } },
    { name: 'event loop held', value: last.heldMs, digits: 0, unit: 'ms', target: { atMost: 250 } },
  ];
  return {
    title: 'The service under load',
    note:
      'Each client searches again as soon as it has its answer; each stream gets all events. ' +
      'HTML pages are uploaded, until all of them are searchable. Clients, server and parsers ' +
      'share the machine.',
    figures,
    tables: [table],
  };
}
