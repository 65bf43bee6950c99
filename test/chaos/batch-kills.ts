/**
 * Batch tasks on one store, processed by processes with different settings: some have the provider,
 * one does not. Each is killed at random, or kills itself at a failpoint. After the last kill, the
 * remaining work runs undisturbed. The provider counts every request by its content: none may be
 * charged twice, and every request must have its response.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Assembled, assemble } from '../../src/app/wire.ts';
import type { BatchCommands } from '../../src/engine/batch/commands.ts';
import type { Failpoint } from '../../src/observe/failpoint.ts';
import { announce } from '../../src/store/batch/presence.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { OpenaiServer } from '../support/batch/openai-server.ts';
import { patience } from '../support/patience.ts';
import { until } from '../support/wait.ts';
import { batchSettings } from './batch-settings.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { type Child, start } from './child.ts';
import type { SceneOptions } from './scene.ts';
import type { Finding } from './verdict.ts';

export interface BatchKillResult {
  readonly findings: readonly Finding[];
  readonly errors: readonly string[];
  readonly documents: number;
  readonly tasks: number;
  readonly batches: number;
  readonly charged: number;
}

const caller = 'ann';
const documentsInJob = 3;
const questionsInTask = 4;
const lifeMsMax = 2_500;
/** The share of calls about a batch and its results that fail. */
const troubleRate = 0.05;

export async function killBatchWorkers(
  options: SceneOptions & { readonly kills: number; readonly seed: number },
): Promise<BatchKillResult> {
  const scene = await BatchScene.open(options, options.seed);
  try {
    await scene.submit(Math.ceil(options.kills / 2) + 2);
    let left = options.kills;
    const place = async (isProvided: boolean): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const child = scene.start({ isProvided });
        await child.first('ready');
        await pause(scene.chance.next() * lifeMsMax);
        await scene.end(child, 'SIGKILL');
        await scene.submit(1);
      }
    };
    await Promise.all([place(true), place(true), place(false)]);
    return await scene.finish();
  } finally {
    await scene.close();
  }
}

export async function killBatchWorkerAt(
  options: SceneOptions,
  { failpoint, seed }: { readonly failpoint: Failpoint; readonly seed: number },
): Promise<BatchKillResult & { readonly isHit: boolean }> {
  const scene = await BatchScene.open(options, seed);
  try {
    await scene.submit(2);
    const other = scene.start({ isProvided: false });
    const doomed = scene.start({ isProvided: true, failpoint: `${failpoint}:kill:1` });
    const canceling = scene.cancelOne().catch(() => undefined);
    const timeout = new AbortController();
    const how = await Promise.race([
      doomed.ended,
      pause(patience.eventMs, 'too late', { signal: timeout.signal }),
    ]);
    timeout.abort();
    scene.stopWaiting();
    await canceling;
    await scene.end(doomed, 'SIGKILL');
    await scene.end(other, 'SIGKILL');
    return { ...(await scene.finish()), isHit: how === 'SIGKILL' };
  } finally {
    await scene.close();
  }
}

const limited = { status: 429, headers: { 'retry-after': '1' } };
const openWork = sql<{ count: number }>`
  SELECT (SELECT COUNT(*) FROM items WHERE waits_on IS NOT NULL)
    + (SELECT COUNT(*) FROM batch_tasks
        WHERE state IN ('pending', 'in_progress') OR is_cancel_due = 1) AS count`;
const unfinished = sql<{ id: number; step: string; error: string | null }>`
  SELECT id, step, error FROM items WHERE step <> 'done'`;
const endedTasks = sql<{ key: string; state: string; results_ok: number; error: string | null }>`
  SELECT key, state, results_ok, error FROM batch_tasks ORDER BY id`;
const progressing = sql<{ key: string }>`
  SELECT key FROM batch_tasks WHERE state = 'in_progress' AND caller = 'bob' LIMIT 1`;

class BatchScene {
  readonly chance: Chance;
  readonly #options: SceneOptions;
  readonly #server: OpenaiServer;
  readonly #store: Assembled;
  readonly #children = new Set<Child>();
  readonly #errors = new Set<string>();
  readonly #canceled = new Set<string>();
  readonly #tasks = new Set<string>();
  #documents = 0;
  #taskNumber = 0;
  #isWaiting = true;

  private constructor(
    options: SceneOptions,
    parts: { server: OpenaiServer; store: Assembled; seed: number },
  ) {
    this.#options = options;
    this.#server = parts.server;
    this.#store = parts.store;
    this.chance = chanceFrom(parts.seed);
  }

  static async open(options: SceneOptions, seed: number): Promise<BatchScene> {
    const server = new OpenaiServer();
    await server.start({ after: () => undefined });
    const { directory, databaseUrl } = options;
    const store = await assemble({
      ...{ data: directory, database: databaseUrl },
      ...batchSettings(server.url, true),
    });
    const scene = new BatchScene(options, { server, store, seed });
    scene.#trouble();
    await scene.#announceProvider();
    return scene;
  }

  /**
   * While no process serves the provider, one without its settings uses the normal price. Which
   * processes run first, or at the same time, is not defined, so the provider is announced for the
   * whole scene.
   */
  async #announceProvider(): Promise<void> {
    const { database } = this.#store;
    const provider = { name: 'openai', taskTypes: ['completion', 'embedding'], models: /^gpt-/ };
    const now = database.now() + patience.fileMs;
    await database.write((transaction) =>
      announce(transaction, { process: 'scene', providers: [provider], now }),
    );
  }

  /** Failed responses, rate limits, and batches that take several polls. */
  #trouble(): void {
    const server = this.#server;
    server.pollsToGo = 2;
    server.cancelPollsToGo = 1;
    server.isDoneAtCancel = ({ body }) => JSON.stringify(body).length % 2 === 0;
    server.answer = ({ body }) => {
      const [name = 'Ada'] = /Person\d+/.exec(JSON.stringify(body)) ?? [];
      const entities = [{ name, kind: 'person', mentions: [name] }];
      return { content: JSON.stringify({ entities }) };
    };
    const asking = { on: /^GET .*(?:batch_\d+|content)$/ };
    const isBad = (): boolean => this.chance.hits(troubleRate);
    server.server.disturb(asking.on, () =>
      isBad() ? (this.chance.hits(0.5) ? { status: 500 } : limited) : undefined,
    );
  }

  async submit(jobs: number): Promise<void> {
    const { engine, batch } = this.#store;
    for (let job = 0; job < jobs; job += 1) {
      const sources = Array.from({ length: documentsInJob }, () => {
        this.#documents += 1;
        const name = `Person${this.#documents}`;
        const body = `${name} repaired the bridge in spring.`;
        const input = { kind: 'markdown' as const, title: null, body };
        return { kind: 'inline' as const, source: name, input };
      });
      await engine.commands.submit({ caller, corpus: 'notes', sources, lane: 'cheap' });
      await this.#submitTask(batch.commands, caller);
    }
    await this.#submitTask(batch.commands, 'bob');
  }

  async #submitTask(commands: BatchCommands, owner: string): Promise<void> {
    this.#taskNumber += 1;
    const number = this.#taskNumber;
    const requests = Array.from({ length: questionsInTask }, (_, index) => ({
      custom_id: `q-${index}`,
      input: `request ${index} of task ${number}`,
    }));
    const body = { task_type: 'completion', models: ['gpt-4o-mini'], requests };
    this.#tasks.add((await commands.submit(owner, body)).key);
  }

  start(more: { readonly isProvided: boolean; readonly failpoint?: string }): Child {
    const { directory: data, databaseUrl: database } = this.#options;
    const child = start('batch-worker', {
      ...{ data, database, url: this.#server.url },
      isProvided: more.isProvided ? 'yes' : 'no',
      failpoint: more.failpoint,
    });
    this.#children.add(child);
    return child;
  }

  async end(child: Child, signal: NodeJS.Signals): Promise<void> {
    child.kill(signal);
    await child.ended;
    this.#children.delete(child);
    for (const error of child.errors) this.#errors.add(error.slice(0, 600));
  }

  /** One task is canceled at its provider, which completes none until it knows of the cancel. */
  async cancelOne(): Promise<void> {
    const { pollsToGo } = this.#server;
    this.#server.pollsToGo = Number.POSITIVE_INFINITY;
    try {
      await this.#cancelAtProvider();
    } finally {
      this.#server.pollsToGo = pollsToGo;
    }
  }

  async #cancelAtProvider(): Promise<void> {
    const { database, batch } = this.#store;
    let key: string | undefined;
    await until(
      async () => {
        key = (await database.run(progressing))[0]?.key;
        return key !== undefined || !this.#isWaiting;
      },
      { what: 'a task in progress', intervalMs: 5 },
    );
    if (key === undefined) return;
    await batch.commands.cancel('bob', key);
    this.#canceled.add(key);
    const isKnown = (): boolean =>
      [...this.#server.batches.values()].some(({ isCanceled }) => isCanceled);
    await until(() => isKnown() || !this.#isWaiting, { what: 'the provider to cancel it' });
  }

  stopWaiting(): void {
    this.#isWaiting = false;
  }

  async finish(): Promise<BatchKillResult> {
    const children = [true, false].map((isProvided) => this.start({ isProvided }));
    const { database } = this.#store;
    const isOver = async (): Promise<boolean> => {
      await this.#retryBlamed();
      return Number((await database.run(openWork))[0]?.count) === 0;
    };
    const wait = { what: 'all batch work to end', patienceMs: patience.testMs, intervalMs: 50 };
    const stuck = await until(isOver, wait).then(
      () => [],
      (error: unknown): Finding[] => [{ fault: 'stuck', what: String(error) }],
    );
    await Promise.all(children.map((child) => this.end(child, 'SIGTERM')));
    const charges = this.#server.charges();
    return {
      findings: [...stuck, ...(await this.#lost()), ...this.#paidTwice(charges)],
      errors: [...this.#errors],
      documents: this.#documents,
      tasks: this.#tasks.size,
      batches: this.#server.batches.size,
      charged: charges.size,
    };
  }

  /** Items that were held by too many dying workers; a person retries them. */
  async #retryBlamed(): Promise<void> {
    const { database, engine } = this.#store;
    const blamed = await database.run(unfinished);
    const ids = blamed.flatMap(({ id, error }) =>
      error?.includes('crashed_repeatedly') ? [Number(id)] : [],
    );
    if (ids.length > 0) await engine.commands.retryItems(caller, ids);
  }

  async #lost(): Promise<Finding[]> {
    const { database } = this.#store;
    const items = (await database.run(unfinished)).map(
      ({ id, step, error }): Finding => ({ fault: 'lost', what: `item ${id} ${step} ${error}` }),
    );
    const tasks = (await database.run(endedTasks)).filter(
      ({ key, results_ok: ok }) =>
        this.#tasks.has(key) && !this.#canceled.has(key) && Number(ok) !== questionsInTask,
    );
    return [
      ...items,
      ...tasks.map(({ key, state, results_ok: ok, error }): Finding => {
        return { fault: 'lost', what: `task ${key} ${state} has ${ok} results: ${error}` };
      }),
    ];
  }

  /** By batches, and by calls at the normal price: nothing here may use the live lane. */
  #paidTwice(charges: ReadonlyMap<string, number>): Finding[] {
    const twice = [...charges].flatMap(([content, times]): Finding[] =>
      times > 1 ? [{ fault: 'paid twice', what: `${times} times: ${content.slice(0, 300)}` }] : [],
    );
    const live = this.#server.server.count(/chat\/completions/);
    return live === 0
      ? twice
      : [...twice, { fault: 'paid twice', what: `${live} requests were sent at the normal price` }];
  }

  async close(): Promise<void> {
    await Promise.all([...this.#children].map((child) => this.end(child, 'SIGKILL')));
    await this.#server.server.close();
    await this.#store.close();
  }
}
