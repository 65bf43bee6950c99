/**
 * A source that changes at random while processes that follow it are killed, at a failpoint or at
 * any moment. What no one touched must never leave the corpus. At rest, the corpus equals the
 * source, and no text was paid for while its response was in the store.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Assembled, assemble } from '../../src/app/wire.ts';
import { isFinalRun, syncRunState } from '../../src/kernel/lifecycle/sync-run.ts';
import { failpoints, syncFailpoints } from '../../src/observe/failpoint.ts';
import { vectorKey } from '../../src/pipeline/embed/embed-texts.ts';
import { type PackedText, unpackText } from '../../src/store/driver/packing.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { getRun } from '../../src/store/sync/runs.ts';
import { type OpenaiServer, startOpenaiServer } from '../support/openai-server.ts';
import { patience } from '../support/patience.ts';
import type { TestPlace } from '../support/sync-places.ts';
import { until } from '../support/wait.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { type Child, start } from './child.ts';
import type { SceneOptions } from './scene.ts';

export interface SyncKillResult {
  readonly kills: number;
  readonly atFailpoints: number;
  readonly runs: number;
  /** Documents that the corpus lacks, has in vain, or has with another text. */
  readonly differences: readonly string[];
  readonly paidTwice: readonly string[];
  readonly errors: readonly string[];
}

export interface SyncKillOptions extends SceneOptions {
  readonly place: TestPlace;
  readonly kills: number;
  readonly seed: number;
}

export async function killFollowers(options: SyncKillOptions): Promise<SyncKillResult> {
  const scene = await SyncScene.open(options);
  try {
    for (let kill = 1; kill <= options.kills; kill += 1) {
      await scene.kill();
      if (kill % killsBetweenRests === 0 || kill === options.kills) await scene.rest();
    }
    return scene.result();
  } finally {
    await scene.close();
  }
}

const caller = 'local';
const corpus = 'docs';
const name = 'followed';
const documents = 8;
const killsBetweenRests = 5;
const lifeMsMax = 1_500;
const model = 'metered@8';

const stored = sql<PackedText & { source: string }>`
  SELECT documents.source, texts.body, texts.packed FROM documents
  LEFT JOIN texts ON texts.generation_id = documents.generation_id
  WHERE documents.corpus = '${corpus}'`;
const openItems = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM items WHERE waits_on IS NOT NULL`;
const openRuns = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM sync_runs WHERE ended_at IS NULL
    AND state <> '${syncRunState.held}'`;
const failed = sql<{ id: number; error: string | null }>`
  SELECT id, error FROM items WHERE step = 'failed'`;
const changesOf = sql<{ run_id: number; kind: string; evidence: string }>`
  SELECT run_id, kind, evidence FROM sync_changes WHERE key LIKE :key ORDER BY id DESC LIMIT 5`;
const paid = sql<{ key: string }>`SELECT key FROM results WHERE key {amongKeys}`;

class SyncScene {
  readonly #options: SyncKillOptions;
  readonly #store: Assembled;
  readonly #server: OpenaiServer;
  readonly #chance: Chance;
  /** What the source has, by name. */
  readonly #texts = new Map<string, string>();
  /** What the corpus had at the last rest, and no one has touched since. */
  readonly #untouched = new Map<string, string>();
  readonly #differences: string[] = [];
  readonly #paidTwice: string[] = [];
  readonly #errors = new Set<string>();
  readonly #log: string[] = [];
  #child: Child | undefined;
  #made = 0;
  #kills = 0;
  #atFailpoints = 0;
  #runs = 0;

  private constructor(options: SyncKillOptions, store: Assembled, server: OpenaiServer) {
    this.#options = options;
    this.#store = store;
    this.#server = server;
    this.#chance = chanceFrom(options.seed);
    server.script = async ({ texts }) => {
      const keys = new Map(texts.map((text) => [vectorKey(model, text), text]));
      const known = await store.database.run(paid, { keys: JSON.stringify([...keys.keys()]) });
      this.#paidTwice.push(...known.map(({ key }) => `${keys.get(key)}`));
      return undefined;
    };
  }

  static async open(options: SyncKillOptions): Promise<SyncScene> {
    const { directory: data, databaseUrl: database, place } = options;
    const server = await startOpenaiServer();
    const store = await assemble({ data, database, ...place.opening });
    const scene = new SyncScene(options, store, server);
    for (let number = 0; number < documents; number += 1) scene.#write(`${number}.md`);
    const { kind, location, options: chosen } = place;
    const { sources } = store.engine;
    await sources.add({ caller, corpus, kind, location, name, options: { ...chosen } });
    await scene.rest();
    return scene;
  }

  /** A process works on a run of a source that changes, until it is killed. */
  async kill(): Promise<void> {
    const { place } = this.#options;
    this.#change();
    const isAway = this.#chance.hits(0.1);
    const at = this.#chance.hits(0.6) ? this.#failpoint() : undefined;
    this.#log.push(`${isAway ? 'away, ' : ''}kill at ${at ?? 'any moment'}`);
    if (isAway) place.lose();
    await this.#run();
    const child = this.#start(at);
    await child.first('ready');
    const lifeMs = this.#chance.next() * lifeMsMax;
    await Promise.race([child.ended, pause(lifeMs)]);
    if (isAway) place.find();
    if (this.#chance.hits(0.5)) this.#change();
    if (at !== undefined) await this.#untilIdle(child);
    const how = child.hasEnded() ? await child.ended : undefined;
    await this.#end(child, 'SIGKILL');
    this.#kills += 1;
    if (how === 'SIGKILL') this.#atFailpoints += 1;
    await this.#checkUntouched();
  }

  /** Works off everything, and compares the corpus with the source. */
  async rest(): Promise<void> {
    const child = this.#start();
    await this.#untilIdle(child);
    if (child.hasEnded()) throw new Error(`a worker ended: ${child.errors.join('\n')}`);
    // A kind may want two listings to agree before it removes something.
    for (let run = 0; run < 3; run += 1) {
      const id = await this.#run();
      await this.#untilIdle(child);
      const ended = await getRun(this.#store.database, id);
      if (ended?.state === syncRunState.held) await this.#apply(child);
      else if (!ended || !isFinalRun(ended.state)) this.#errors.add(`run ${id}: ${ended?.state}`);
    }
    await this.#end(child, 'SIGTERM');
    const found = this.#difference(this.#texts, await this.#documents());
    this.#differences.push(...found);
    if (found.length > 0) this.#differences.push(...this.#log.map((line) => `  ${line}`));
    this.#log.length = 0;
    this.#untouched.clear();
    for (const [key, text] of this.#texts) this.#untouched.set(key, text);
  }

  result(): SyncKillResult {
    return {
      kills: this.#kills,
      atFailpoints: this.#atFailpoints,
      runs: this.#runs,
      differences: this.#differences,
      paidTwice: this.#paidTwice,
      errors: [...this.#errors],
    };
  }

  async close(): Promise<void> {
    if (this.#child) await this.#end(this.#child, 'SIGKILL');
    await this.#server.close();
    await this.#store.close();
  }

  #start(failpoint?: string): Child {
    const { directory: data, databaseUrl: database, place } = this.#options;
    const { url } = this.#server;
    const embedder = { choice: `openai:${model}`, url, key: 'key', centsPerMillionTokens: 1 };
    const opening = JSON.stringify({ ...place.opening, embedder });
    this.#child = start('sync-worker', { data, database, opening, failpoint });
    return this.#child;
  }

  async #end(child: Child, signal: NodeJS.Signals): Promise<void> {
    child.kill(signal);
    await child.ended;
    this.#child = undefined;
    for (const error of child.errors) this.#errors.add(error.slice(0, 600));
  }

  async #run(): Promise<number> {
    this.#runs += 1;
    return this.#store.engine.sources.run({ caller, name }, { cause: 'request', isPlan: false });
  }

  async #apply(child: Child): Promise<void> {
    await this.#store.engine.sources.decide({ caller, name }, 'apply');
    await this.#untilIdle(child);
  }

  /** Until nothing is left to do, or the process has died. */
  async #untilIdle(child: Child): Promise<void> {
    const { database } = this.#store;
    const isIdle = async (): Promise<boolean> => {
      if (child.hasEnded()) return true;
      await this.#retryBlamed();
      const [runs] = await database.run(openRuns);
      const [items] = await database.run(openItems);
      return Number(runs?.count) === 0 && Number(items?.count) === 0;
    };
    const wait = { what: 'the end of all runs and items', patienceMs: patience.testMs };
    await until(isIdle, { ...wait, intervalMs: 20 });
  }

  /** Items that were held by too many dying workers; a person retries them. */
  async #retryBlamed(): Promise<void> {
    const { database, engine } = this.#store;
    const ids = (await database.run(failed)).flatMap(({ id, error }) =>
      String(error).includes('crashed_repeatedly') ? [Number(id)] : [],
    );
    if (ids.length > 0) await engine.commands.retryItems(caller, ids);
  }

  #failpoint(): string {
    const isOfRun = this.#chance.hits(0.7);
    const some = isOfRun ? syncFailpoints : failpoints.filter((point) => !/^sweep/.test(point));
    const point = some[this.#chance.below(some.length)];
    return `${point}:kill:${1 + this.#chance.below(isOfRun ? 6 : 3)}`;
  }

  #change(): void {
    for (let left = 1 + this.#chance.below(4); left > 0; left -= 1) this.#changeOne();
  }

  #changeOne(): void {
    const acts = ['create', 'edit', 'edit', 'delete', 'rename', 'rename', 'edit and rename'];
    const act = acts[this.#chance.below(acts.length)] as string;
    const keys = [...this.#texts.keys()];
    const key = keys[this.#chance.below(keys.length)];
    this.#log.push(`${act} ${key}`);
    if (act === 'create' || key === undefined) this.#write(`new-${this.#made}.md`);
    else if (act === 'delete') this.#delete(key);
    else {
      if (act !== 'rename') this.#write(key);
      if (act !== 'edit') this.#rename(key);
    }
  }

  #write(key: string): void {
    this.#made += 1;
    const text = `The heron ${this.#made} waits.`;
    this.#texts.set(key, text);
    this.#untouched.delete(key);
    this.#options.place.write(key, `# Text ${this.#made}\n\n${text}\n`);
  }

  #delete(key: string): void {
    this.#options.place.remove(key);
    this.#texts.delete(key);
    this.#untouched.delete(key);
  }

  #rename(from: string): void {
    const { place } = this.#options;
    this.#made += 1;
    const to = `moved-${this.#made}.md`;
    if (!place.rename) return;
    place.rename(from, to);
    this.#texts.set(to, this.#texts.get(from) ?? '');
    this.#texts.delete(from);
    this.#untouched.delete(from);
  }

  async #documents(): Promise<ReadonlyMap<string, string>> {
    const { prefix } = this.#options.place;
    const rows = await this.#store.database.run(stored);
    const found = new Map(
      rows.map((row) => [row.source.slice(prefix.length), String(unpackText(row))]),
    );
    // The first page of a site.
    found.delete('');
    return found;
  }

  async #checkUntouched(): Promise<void> {
    const found = await this.#documents();
    for (const [key, text] of this.#untouched) {
      if (found.get(key)?.includes(text)) continue;
      this.#differences.push(`kill ${this.#kills}: ${key} left the corpus: ${found.get(key)}`);
      this.#differences.push(...(await this.#story(key)));
      this.#untouched.delete(key);
    }
  }

  /** What the runs found about a key, and the changes of the source since the last rest. */
  async #story(key: string): Promise<string[]> {
    const rows = await this.#store.database.run(changesOf, { key: `%${key}` });
    const runs = rows.map((row) => `  run ${row.run_id}: ${row.kind}, ${row.evidence}`);
    return [...runs, ...this.#log.map((line) => `  ${line}`)];
  }

  #difference(wanted: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string[] {
    const named = (key: string): string =>
      `kill ${this.#kills}: ${key} is ${wanted.get(key)}, and in the corpus ${found.get(key)}`;
    const missing = [...wanted].filter(([key, text]) => !found.get(key)?.includes(text));
    const extra = [...found.keys()].filter((key) => !wanted.has(key));
    return [...missing.map(([key]) => named(key)), ...extra.map(named)];
  }
}
