/**
 * Hostile requests, files, sites and sources against `pawl serve`, by the clock: another process
 * asks for `/healthz` every 50 ms, an ordinary document is submitted every 10 s. A bare server is
 * asked at the same times, because on a busy machine it answers late, too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HostileScene } from '../../test/e2e/hostile-scene.ts';
import { secondFiles } from '../../test/support/hostile-files.ts';
import { bodies, conditions, files, readings } from '../../test/support/hostile-inputs.ts';
import { places, servePlaces, thirdFiles } from '../../test/support/hostile-places.ts';
import {
  fields,
  misshapenRequests,
  smallValues,
  withValue,
} from '../../test/support/hostile-requests.ts';
import { until } from '../../test/support/wait.ts';
import type { Figure, Section } from '../measure/figure.ts';

export interface HostileOptions {
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

interface Waits {
  readonly asked: number;
  readonly medianMs: number;
  readonly worstMs: number;
  readonly late: number;
}

interface Clock {
  readonly pawl: Waits;
  readonly control: Waits;
  readonly worstAlone: number;
  readonly lateAlone: number;
}

interface Loop {
  readonly delayMs: number;
  readonly cpuMs: number;
}

const ordinaryEveryMs = 10_000;
/** In a quick run, one of so many requests and files, and of so many places. */
const quickShare = 40;
const quickPlaces = 4;
/** It names the work that did it. */
const stallMessage = /the event loop was blocked[^"]*/g;

export async function benchHostile({ isQuick, tell }: HostileOptions): Promise<Section[]> {
  const ends: (() => unknown)[] = [];
  const t = { after: (run: () => unknown) => void ends.push(run) };
  const folder = mkdtempSync(join(tmpdir(), 'pawl-hostile-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const loopLog = join(folder, 'loop.json');
  try {
    const followed = await servePlaces(t);
    const scene = await HostileScene.open(t, [followed.host], {
      NODE_OPTIONS: `--import=${new URL('./loop-log.ts', import.meta.url).href}`,
      LOOP_LOG: loopLog,
    });
    scene.started.child.stderr?.on('data', (text: Buffer) => {
      for (const [message] of String(text).matchAll(stallMessage)) tell(`hostile: ${message}`);
    });
    const control = start(t, 'control.ts');
    const { address } = await control.line<{ address: string }>();
    await ingest(scene.address, 1);
    const usualMs = await ingest(scene.address, 2);
    const load = loadavg()[0] ?? 0;
    const clock = start(t, 'clock.ts', scene.address, address);
    const ordinary = keepIngesting(scene);
    scene.started.child.kill('SIGUSR2');
    const startedAt = performance.now();
    const sent = await attack(scene, { origin: followed.origin, isQuick, tell });
    const times = await ordinary.stop();
    clock.child.stdin?.end();
    const waits = await clock.line<Clock>();
    await pause(2000);
    const loop = JSON.parse(readFileSync(loopLog, 'utf8')) as Loop;
    const stalls = await scene.stalls();
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const note =
      `${sent} hostile inputs in ${seconds} s, at load ${load.toFixed(1)} before and ` +
      `${(loadavg()[0] ?? 0).toFixed(1)} after. The control is a bare Node server beside it.`;
    const figures = figuresOf(waits, loop, { stalls, times, usualMs });
    return [{ title: 'Hostile input, by the clock', note, figures }];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

function figuresOf(
  { pawl, control, worstAlone, lateAlone }: Clock,
  { delayMs, cpuMs }: Loop,
  { stalls, times, usualMs }: { stalls: number; times: readonly number[]; usualMs: number },
): Figure[] {
  const ms = (name: string, value: number, atMost?: number): Figure => ({
    ...{ name, value, digits: 0, unit: 'ms' },
    ...(atMost !== undefined && { target: { atMost } }),
  });
  const count = (name: string, value: number): Figure => ({ name, value, digits: 0 });
  return [
    ms('`/healthz`: longest wait', pawl.worstMs, 500),
    ms('control: longest wait', control.worstMs),
    ms('`/healthz`: longest wait beyond that of the control at the same time', worstAlone, 500),
    ms('`/healthz`: median', pawl.medianMs),
    ms('control: median', control.medianMs),
    count('`/healthz`: asked', pawl.asked),
    count('`/healthz`: over 500 ms', pawl.late),
    count('control: over 500 ms', control.late),
    count('`/healthz`: over 500 ms beyond the control', lateAlone),
    ms('ordinary document: longest', Math.max(0, ...times)),
    ms('ordinary document: before', usualMs),
    ms('ordinary document: delay', Math.max(0, ...times) - usualMs, 5000),
    ms('event loop: longest delay, as the server measured it', delayMs),
    ms('event loop: most CPU time without a turn', cpuMs, 500),
    { ...count('event loop: blocked for over 250 ms by work', stalls), target: { atMost: 0 } },
  ];
}

function keepIngesting(scene: HostileScene): { stop(): Promise<number[]> } {
  const times: number[] = [];
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      const tookMs = await ingest(scene.address, times.length + 3);
      times.push(tookMs);
      const restMs = Math.max(0, ordinaryEveryMs - tookMs);
      if (!isOver) await pause(restMs);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await done;
      return times;
    },
  };
}

/** Long enough to need a thread. A kept connection may be closed when it is used again. */
async function ingest(address: string, number: number): Promise<number> {
  const startedAt = performance.now();
  const text = `# Report ${number}\n\n${'The heron stands in the shallow water. '.repeat(3000)}`;
  const body = JSON.stringify({ corpus_name: 'ordinary', documents: [{ text }] });
  const closing = { connection: 'close' };
  const headers = { ...closing, 'content-type': 'application/json' };
  const accepted = await fetch(`${address}/jobs`, { method: 'POST', headers, body });
  const { job_id } = (await accepted.json()) as { job_id: string };
  await (await fetch(`${address}/jobs/${job_id}/stream`, { headers: closing })).text();
  return performance.now() - startedAt;
}

interface Attack {
  readonly origin: string;
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

async function attack(scene: HostileScene, { origin, isQuick, tell }: Attack): Promise<number> {
  let [seen, sent] = [0, 0];
  const each = async (work: () => Promise<unknown>): Promise<void> => {
    seen += 1;
    if (isQuick && seen % quickShare !== 0) return;
    sent += 1;
    await work().catch((error: unknown) => {
      // The rest of a refused body is not read, so its connection may be reset.
      if (codeOf(error) !== 'ECONNRESET' && codeOf(error) !== 'EPIPE') throw error;
    });
  };
  tell('hostile: requests');
  for (const body of Object.values(bodies))
    await each(async () => (await scene.post('/jobs', body)).text());
  for (const { path, body } of readings) {
    const read = () => (body ? scene.post(path, JSON.stringify(body)) : scene.ask(path));
    await each(async () => (await read()).text());
  }
  for (const request of misshapenRequests()) await each(() => scene.sendHostile(request));
  for (const field of fields) {
    for (const [title, value] of Object.entries(smallValues)) {
      await each(() => scene.sendHostile(withValue(field, title, value)));
    }
  }
  for (const where of conditions) {
    const body = JSON.stringify({ corpus_name: 'ordinary', query: 'heron', filter: { where } });
    await each(async () => (await scene.post('/search', body)).text());
  }
  tell('hostile: files');
  const all = { ...files, ...thirdFiles() };
  for (const [name, body] of Object.entries(all))
    await each(() => scene.upload('files', name, body));
  for (const [name, make] of Object.entries(secondFiles)) {
    await each(() => scene.upload('files', name, make()));
  }
  tell('hostile: places');
  const chosen = Object.values(places).filter((_, n) => !isQuick || n % quickPlaces === 0);
  for (const { kind, path, options } of chosen) {
    const location = `${origin}${path}`;
    const job = JSON.stringify({ corpus_name: 'pages', urls: [location] });
    if (kind === 'page') await scene.ended(await scene.post('/jobs', job));
    else await scene.follow(path.replace(/\W/g, ''), { kind, location, ...options });
  }
  tell('hostile: until all have ended');
  await until(() => scene.isIdle(), {
    what: 'all jobs to end',
    patienceMs: 3_600_000,
    intervalMs: 1000,
  });
  return sent + chosen.length;
}

function codeOf(error: unknown): unknown {
  return ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code;
}

/** A program of this folder, and the next line that it prints. */
function start(t: { after(run: () => unknown): void }, name: string, ...args: string[]) {
  const program = fileURLToPath(new URL(name, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout?.on('data', (piece: Buffer) => {
    text += piece;
  });
  const line = async <Shape>(): Promise<Shape> => {
    await until(() => text.includes('\n'), { what: `a line of ${name}` });
    return JSON.parse(text) as Shape;
  };
  return { child, line };
}
