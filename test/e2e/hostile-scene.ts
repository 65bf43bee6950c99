/**
 * `pawl serve` as a process, and what strangers do to it. Whether they stop it for others is judged
 * by what the service itself counts: times that its event loop was held by its own work. That is
 * CPU time, so a busy machine is not taken for a defect.
 */
import assert from 'node:assert/strict';
import { patience } from '../support/patience.ts';
import type { Cleanup } from '../support/temporary.ts';
import { openRunner, type Started } from './pawl-process.ts';

const logCharactersMax = 2000;
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

  static async open(t: Cleanup, hosts: readonly string[] = []): Promise<HostileScene> {
    const started = openRunner(t).start(['serve', '--port', '0', '--no-sample', '--json'], {
      lifeMs: patience.fileMs,
      environment: {
        PAWL_LOG: 'warn',
        ...(hosts.length > 0 && {
          PAWL_ALLOW_HOSTS: hosts.join(','),
          PAWL_PACE: '127.0.0.1=16/0',
        }),
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

  /** Waits for the end of a job on its stream. */
  async ended(response: Response): Promise<void> {
    const { job_id, detail } = (await response.json()) as { job_id?: string; detail?: string };
    assert.equal(response.status, 202, detail);
    await (await this.ask(`/jobs/${job_id}/stream`)).text();
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
