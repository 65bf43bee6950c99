/**
 * `pawl serve` as a process, and what strangers do to it. Whether they stop it for others is judged
 * by what the service itself counts: times that its event loop was held by its own work. That is
 * CPU time, so a busy machine is not taken for a defect.
 */
import assert from 'node:assert/strict';
import { syncRun } from '../../src/kernel/lifecycle/sync-run.ts';
import type { HostileRequest } from '../support/hostile-requests.ts';
import { patience } from '../support/patience.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openRunner, type Started } from './pawl-process.ts';

const logCharactersMax = 2000;
/** A refusal may quote the request, but not all of it. */
const refusalCharactersMax = 8000;
export const json = { 'content-type': 'application/json' };

export class HostileScene {
  readonly started: Started;
  readonly address: string;
  #ordinary = 0;
  #log = '';

  private constructor(started: Started, address: string) {
    this.started = started;
    this.address = address;
    started.child.stderr?.on('data', (chunk: Buffer) => {
      this.#log = `${this.#log}${chunk}`.slice(-logCharactersMax);
    });
  }

  static async open(
    t: Cleanup,
    hosts: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<HostileScene> {
    const started = openRunner(t).start(['serve', '--port', '0', '--no-sample', '--json'], {
      lifeMs: patience.fileMs,
      environment: {
        PAWL_LOG: 'warn',
        ...(hosts.length > 0 && {
          PAWL_ALLOW_HOSTS: hosts.join(','),
          PAWL_PACE: '127.0.0.1=16/0',
        }),
        ...environment,
      },
    });
    const [, address = ''] = await started.seen(/"address":"([^"]+)"/);
    return new HostileScene(started, address);
  }

  ask(path: string, init?: RequestInit): Promise<Response> {
    return fetch(`${this.address}${path}`, init);
  }

  post(path: string, body: string | FormData): Promise<Response> {
    return this.ask(path, {
      method: 'POST',
      headers: typeof body === 'string' ? json : {},
      body,
    });
  }

  /** Fails unless the response is what a caller may cause, and short if it is a refusal. */
  async sendHostile({ title, method, path, headers, body }: HostileRequest): Promise<void> {
    const sent = method === 'GET' ? { headers } : { method, headers, body: body as string };
    const response = await this.ask(path, sent);
    if (response.headers.get('content-type')?.includes('event-stream')) {
      return response.body?.cancel();
    }
    const text = await response.text();
    assert.ok(response.status < 500, `${title}: ${response.status} ${text.slice(0, 500)}`);
    if (response.status < 400) return;
    assert.ok(text.length < refusalCharactersMax, `${title}: ${text.length} characters`);
  }

  async upload(corpus: string, name: string, content: string | Buffer): Promise<void> {
    const form = new FormData();
    form.append('corpus_name', corpus);
    form.append('file', new Blob([content as string]), name);
    // The next file may take so long to make that the service would close a kept connection.
    const headers = { connection: 'close' };
    const response = await this.ask('/jobs/upload', { method: 'POST', headers, body: form });
    assert.equal(response.status, 202, `${name}: ${await response.text()}`);
  }

  /** The codes of the failed documents of a corpus. */
  async codesIn(corpus: string): Promise<string[]> {
    const response = await this.ask(`/inbox?corpus_name=${corpus}`);
    const { causes } = (await response.json()) as { causes: { code: string }[] };
    return causes.map(({ code }) => code);
  }

  /** Waits for the end of a job on its stream. */
  async ended(response: Response): Promise<void> {
    const { job_id, detail } = (await response.json()) as { job_id?: string; detail?: string };
    assert.equal(response.status, 202, detail);
    await (await this.ask(`/jobs/${job_id}/stream`)).text();
  }

  /** Compares a source once, and waits for the end of the run. */
  async follow(name: string, source: Readonly<Record<string, unknown>>): Promise<void> {
    const body = JSON.stringify({ corpus_name: 'followed', name, ...source });
    assert.equal((await this.post('/sources', body)).status, 201, name);
    const started = await this.post(`/sources/${name}/run`, '{}');
    const { run_id } = (await started.json()) as { run_id: number };
    const state = async (): Promise<string> => {
      const run = await this.ask(`/sources/${name}/runs/${run_id}`);
      return ((await run.json()) as { state: string }).state;
    };
    const isOver = async () => [...syncRun.final, 'held'].includes((await state()) as never);
    const patienceMs = patience.testMs;
    await until(isOver, { what: `the run of ${name} to end`, patienceMs, intervalMs: 100 });
    await this.post(`/sources/${name}/pause`, '{}');
  }

  /** Whether all jobs have ended. */
  async isIdle(): Promise<boolean> {
    const states = ['queued', 'running', 'retry_pending'];
    for (const state of states) {
      const response = await this.ask(`/jobs?state=${state}&limit=1`);
      const { items } = (await response.json()) as { items: unknown[] };
      if (items.length > 0) return false;
    }
    return true;
  }

  /** How often its own work blocked the event loop for too long. */
  async stalls(): Promise<number> {
    const text = await (await this.ask('/metrics')).text();
    return Number(/^pawl_event_loop_stalls_total\{cause="work"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  /** Fails if work blocked the event loop meanwhile; the log names the work. */
  async free(title: string, work: () => Promise<unknown>): Promise<void> {
    const before = await this.stalls();
    await work();
    const stalls = (await this.stalls()) - before;
    if (stalls > 0) assert.fail(`${title} held the event loop ${stalls} times:\n${this.#log}`);
  }

  /** An ordinary document, long enough to need a thread. */
  async ingestOrdinary(): Promise<number> {
    const startedAt = performance.now();
    this.#ordinary += 1;
    const sentences = 'The heron stands in the shallow water. '.repeat(3000);
    const text = `# Report ${this.#ordinary}\n\n${sentences}`;
    const job = { corpus_name: 'ordinary', documents: [{ text }] };
    await this.ended(await this.post('/jobs', JSON.stringify(job)));
    return performance.now() - startedAt;
  }
}
