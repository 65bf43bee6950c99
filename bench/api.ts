/**
 * Requests per second of the service, next to a bare Fastify with the same response. Each server
 * has its own process; the requests come from this one. The servers take turns, so that other load
 * hits both. Submissions are on disk before the response is sent.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import type { Figure, Section } from './measure/figure.ts';

const key = 'a-key-for-the-measurement-of-the-api';
const clients = 64;
const json = { 'content-type': 'application/json', 'x-api-key': key };
const submission = { corpus_name: 'a', documents: [{ id: 'one', text: 'The heron waits.' }] };

export async function benchApi(options: {
  isQuick: boolean;
  tell: (line: string) => void;
}): Promise<Section[]> {
  const { isQuick, tell } = options;
  const [rounds, seconds] = isQuick ? [2, 1] : [5, 4];
  const pawl = await start('pawl', key);
  const submit = { method: 'POST', path: '/jobs', headers: json, body: JSON.stringify(submission) };
  const { job_id } = (await (await fetch(`${pawl.address}/jobs`, submit)).json()) as {
    job_id: string;
  };
  const look = { method: 'GET', path: `/jobs/${job_id}`, headers: { 'x-api-key': key } };
  const answer = await (await fetch(`${pawl.address}${look.path}`, look)).text();
  const bare = await start('bare', answer);
  const measured = { bare: [], look: [], submit: [] } as Record<string, Measured[]>;
  for (let round = 0; round < rounds; round += 1) {
    tell(`api: round ${round + 1} of ${rounds}`);
    measured.bare?.push(await load(bare, look as Load, seconds));
    measured.look?.push(await load(pawl, look as Load, seconds));
    measured.submit?.push(await load(pawl, submit as Load, seconds));
  }
  for (const { child } of [pawl, bare]) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  return [sectionOf(measured)];
}

function sectionOf(measured: Readonly<Record<string, readonly Measured[]>>): Section {
  const of = (name: string, part: keyof Measured): number =>
    median((measured[name] ?? []).map((each) => each[part]));
  const share = (100 * of('look', 'perSecond')) / of('bare', 'perSecond');
  const cpuShare = (100 * of('bare', 'cpuMicroseconds')) / of('look', 'cpuMicroseconds');
  const figures: Figure[] = [
    { name: 'bare Fastify, the same bytes', value: of('bare', 'perSecond'), digits: 0, unit: '/s' },
    { name: 'GET /jobs/{id}', value: of('look', 'perSecond'), digits: 0, unit: '/s' },
    { name: 'of the bare one', value: share, digits: 0, unit: '%', target: { atLeast: 50 } },
    { name: 'the same by processor time', value: cpuShare, digits: 0, unit: '%' },
    {
      name: 'POST /jobs, each on disk',
      value: of('submit', 'perSecond'),
      digits: 0,
      unit: '/s',
      target: { atLeast: 2000 },
    },
  ];
  return {
    title: 'The service',
    note:
      `${clients} clients at once, with a key, limits and audits on. Medians; the servers take ` +
      'turns. Processor time is the server’s own for a request, which other work does not change.',
    figures,
  };
}

export async function start(...args: string[]): Promise<Started> {
  const script = fileURLToPath(new URL('./api-server.ts', import.meta.url));
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const [piece] = await once(child.stdout, 'data');
  return { child, address: String(piece).trim() };
}

interface Load {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

interface Measured {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

export interface Started {
  readonly child: ChildProcess;
  readonly address: string;
}

/** The responses of a server to the given number of concurrent clients. */
async function load(
  { address, child }: Started,
  request: Load,
  seconds: number,
): Promise<Measured> {
  const before = cpuTicks(child.pid);
  const pool = new Pool(address, { connections: clients, pipelining: 1 });
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let answered = 0;
  const ask = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const { statusCode, body } = await pool.request(request);
      await body.dump();
      if (statusCode >= 300) throw new Error(`${request.path} answered ${statusCode}`);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, ask));
  const span = (performance.now() - startedAt) / 1000;
  await pool.close();
  const cpuMicroseconds = ((cpuTicks(child.pid) - before) * 10_000) / answered;
  return { perSecond: answered / span, cpuMicroseconds };
}

/** User and system time, in hundredths of a second, as Linux counts them. */
function cpuTicks(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}
