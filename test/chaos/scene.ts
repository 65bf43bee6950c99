/**
 * One store, the processes started on it, and the two lists to check it by. Every scenario ends the
 * same way: the remaining work runs undisturbed, and the store is checked.
 */
import { join } from 'node:path';
import { type Assembled, assemble } from '../../src/app/wire.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { patience } from '../support/patience.ts';
import { until } from '../support/wait.ts';
import { type Child, type Options, type Program, start } from './child.ts';
import { type MeteredServer, startMeteredServer } from './metered.ts';
import type { DiaryLine, PaidCall } from './paid-twice.ts';
import { type Entry, readLines } from './submission-log.ts';
import { type Finding, judge } from './verdict.ts';
import { caller } from './workload.ts';

export interface SceneOptions {
  readonly directory: string;
  /** Postgres; the embedded store if absent. */
  readonly databaseUrl?: string | undefined;
}

const errorCharactersMax = 600;
const paused = sql<{ key: string }>`SELECT key FROM jobs WHERE state = 'paused'`;
const openCount = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM items WHERE waits_on IS NOT NULL`;

export class Scene {
  /** Errors of failed processes, each once. */
  readonly errors = new Set<string>();
  /** Errors that engines reported and survived. */
  readonly remarks = new Set<string>();
  readonly #options: SceneOptions;
  readonly #store: Assembled;
  readonly #provider: MeteredServer;
  readonly #children = new Set<Child>();

  private constructor(options: SceneOptions, store: Assembled, provider: MeteredServer) {
    this.#options = options;
    this.#store = store;
    this.#provider = provider;
  }

  static async open(options: SceneOptions): Promise<Scene> {
    const { directory, databaseUrl } = options;
    const store = await assemble({ data: directory, database: databaseUrl });
    return new Scene(options, store, await startMeteredServer(store.database));
  }

  get database(): Database {
    return this.#store.database;
  }

  start(program: Program, options: Options): Child {
    const { directory, databaseUrl } = this.#options;
    const child = start(program, {
      data: directory,
      database: databaseUrl,
      ...(program === 'worker'
        ? {
            provider: this.#provider.url,
            completions: this.#provider.completionsUrl,
            diary: join(directory, 'diary'),
          }
        : { log: join(directory, 'submissions') }),
      ...options,
    });
    this.#children.add(child);
    return child;
  }

  /** Runs a process that ends by itself; one that hangs is an error of the run. */
  async finish(program: Program, options: Options): Promise<void> {
    const child = this.start(program, options);
    const timer = setTimeout(() => {
      this.errors.add(`the ${program} did not end: ${JSON.stringify(options)}`);
      child.kill('SIGKILL');
    }, patience.testMs);
    await child.ended;
    clearTimeout(timer);
  }

  async end(child: Child, signal: NodeJS.Signals): Promise<void> {
    child.kill(signal);
    // A stopped process receives only SIGKILL until it is continued.
    if (signal !== 'SIGKILL') child.kill('SIGCONT');
    await child.ended;
    this.#children.delete(child);
    for (const error of child.errors) this.errors.add(error.slice(0, errorCharactersMax));
    for (const remark of child.remarks) this.remarks.add(remark.slice(0, errorCharactersMax));
  }

  entries(): Entry[] {
    return readLines(join(this.#options.directory, 'submissions'));
  }

  calls(): readonly PaidCall[] {
    return this.#provider.calls;
  }

  diary(): DiaryLine[] {
    return readLines(join(this.#options.directory, 'diary'));
  }

  /** Texts that were paid for again, because their response was lost on its way into the store. */
  askedAgain(): number {
    return this.#provider.askedAgain();
  }

  /** Works off the remaining items; paused jobs are resumed. */
  async rest(workers: number): Promise<void> {
    const children = Array.from({ length: workers }, (_, index) =>
      this.start('worker', { seed: index, failureRate: 0 }),
    );
    const wait = { what: 'all items to end', patienceMs: patience.testMs, intervalMs: 20 };
    // The verdict reports items that do not end, with the place where they are stuck.
    await until(() => this.#isAtRest(), wait).catch((error: unknown) =>
      this.errors.add(String(error)),
    );
    await Promise.all(children.map((child) => this.end(child, 'SIGTERM')));
  }

  async #isAtRest(): Promise<boolean> {
    const { commands } = this.#store.engine;
    for (const { key } of await this.database.run(paused)) await commands.resume(caller, key);
    return (await this.database.run(openCount))[0]?.count === 0;
  }

  judge(isJudged: (call: PaidCall) => boolean = () => true): Promise<Finding[]> {
    const calls = this.calls().filter(isJudged);
    const [entries, diary] = [this.entries(), this.diary()];
    return judge({ database: this.database, entries, calls, diary });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#children].map((child) => this.end(child, 'SIGKILL')));
    await this.#provider.close();
    await this.#store.close();
  }
}
