/**
 * How many requests a second the service answers, beside a bare Fastify with the same answer.
 *
 *   node bench/api.ts [--seconds 5] [--clients 64]
 *
 * Each server is a process of its own; the requests come from this one. They take turns, so that
 * what else the machine does falls on both. Submissions are on disk before they are answered.
 * `cpu` is the server's own processor time for a request, which other work does not change.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Fastify from 'fastify';
import { Pool } from 'undici';
import { startService } from '../src/service.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    clients: { type: 'string', default: '64' },
    serve: { type: 'string' },
    answer: { type: 'string', default: '{}' },
  },
});
const rounds = 3;

if (values.serve === 'pawl') await servePawl();
else if (values.serve === 'bare') await serveBare(JSON.parse(values.answer));
else await compare();

async function servePawl(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
  const log = { level: 'warn', write: (line: string) => void process.stderr.write(line) } as const;
  // It only accepts: what the work itself costs is measured by `npm run bench -- engine`.
  const service = await startService({ data, host: '127.0.0.1', port: 0, log, work: false });
  process.stdout.write(`${service.address}\n`);
  process.once('SIGTERM', async () => {
    await service.close();
    rmSync(data, { recursive: true, force: true });
  });
}

async function serveBare(answer: unknown): Promise<void> {
  const app = Fastify();
  app.get('/jobs/:id', async () => answer);
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  process.stdout.write(`${address}\n`);
  process.once('SIGTERM', () => void app.close());
}

async function start(...args: string[]): Promise<Started> {
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [self, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const address = await new Promise<string>((resolve) =>
    child.stdout?.once('data', (piece) => resolve(String(piece).trim())),
  );
  return { child, address };
}

async function compare(): Promise<void> {
  const pawl = await start('--serve', 'pawl');
  const submission = { corpus_name: 'a', documents: [{ id: 'one', text: 'The heron waits.' }] };
  const accepted = await fetch(`${pawl.address}/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(submission),
  });
  const { job_id } = (await accepted.json()) as { job_id: string };
  const answer = await (await fetch(`${pawl.address}/jobs/${job_id}`)).text();
  const bare = await start('--serve', 'bare', '--answer', answer);
  const look = { method: 'GET', path: `/jobs/${job_id}` } as const;
  const submit = {
    method: 'POST',
    path: '/jobs',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(submission),
  } as const;
  const measured: Record<'bare' | 'look' | 'submit', Measured[]> = {
    bare: [],
    look: [],
    submit: [],
  };
  for (let round = 0; round < rounds; round += 1) {
    measured.bare.push(await load(bare, look));
    measured.look.push(await load(pawl, look));
    measured.submit.push(await load(pawl, submit));
  }
  const titles = {
    bare: 'bare Fastify, the same bytes',
    look: 'GET /jobs/{id}',
    submit: 'POST /jobs, each on disk',
  } as const;
  console.log('| | requests/s | cpu/request |\n| --- | --- | --- |');
  for (const name of ['bare', 'look', 'submit'] as const) {
    const rate = median(measured[name].map(({ perSecond }) => perSecond));
    const cpu = median(measured[name].map(({ cpuMicroseconds }) => cpuMicroseconds));
    console.log(`| ${titles[name]} | ${rate.toLocaleString('en-US')} | ${cpu} µs |`);
  }
  for (const { child } of [pawl, bare]) child.kill('SIGTERM');
}

interface Load {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

interface Measured {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

interface Started {
  readonly child: ChildProcess;
  readonly address: string;
}

/** What a server answers to as many clients at once as were asked for. */
async function load({ address, child }: Started, request: Load): Promise<Measured> {
  const before = cpuTicks(child.pid);
  const clients = Number(values.clients);
  const pool = new Pool(address, { connections: clients, pipelining: 1 });
  const endsAt = performance.now() + Number(values.seconds) * 1000;
  const startedAt = performance.now();
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
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  const ticks = cpuTicks(child.pid) - before;
  const cpuMicroseconds = Math.round((ticks * 10_000) / answered);
  return { perSecond: Math.round(answered / seconds), cpuMicroseconds };
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
