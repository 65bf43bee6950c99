/** The people of the simulated world, who submit, pause, cancel and retry at random. */
import { Failure } from '../../src/kernel/failure/failure.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { callers, corpora, randomSource } from './content.ts';
import type { Setting, SimulatedProcess } from './process.ts';

export interface UserOptions {
  readonly setting: Setting;
  /** A running process that accepts requests, if there is one. */
  readonly reach: () => SimulatedProcess | undefined;
  /** How many different documents there are. */
  readonly places: number;
}

const jobs = sql<{ key: string; caller: string; state: string }>`
  SELECT key, caller, state FROM jobs ORDER BY id`;
const inbox = sql<{ id: number; caller: string; key: string }>`
  SELECT items.id, items.caller, jobs.key FROM items JOIN jobs ON jobs.id = items.job_id
  WHERE items.failed_at IS NOT NULL ORDER BY items.id`;

const documents = sql<{ id: string; caller: string; newest_id: number }>`
  SELECT documents.id, documents.caller, MAX(items.id) AS newest_id
  FROM documents JOIN items ON items.document_id = documents.id
  GROUP BY documents.id, documents.caller ORDER BY documents.id`;

const sourcesMax = 4;
/** For a job that is stopped in the middle of much work. */
const manySourcesMax = 24;
const submissionsMax = 8;

export class User {
  readonly #options: UserOptions;
  #submissionsLeft: number;

  constructor(options: UserOptions) {
    this.#options = options;
    this.#submissionsLeft = options.setting.random.whole(1, submissionsMax);
  }

  /** Does one thing. The outcome is logged; refusals are expected. */
  async act(): Promise<void> {
    const { random } = this.#options.setting;
    const process = this.#options.reach();
    if (!process) return;
    if (random.chance(0.5) && this.#submissionsLeft-- > 0) {
      return this.#try(process, 'submit', () => this.#submit(process));
    }
    if (random.chance(0.65)) return this.#changeJob(process);
    if (random.chance(0.7)) return this.#changeItems(process);
    return this.#deleteDocument(process);
  }

  async #submit(process: SimulatedProcess): Promise<void> {
    const { setting, places } = this.#options;
    const { random, recorder, faults } = setting;
    const caller = random.pick(callers);
    const countMax = random.chance(0.1) ? manySourcesMax : sourcesMax;
    const sources = Array.from({ length: random.whole(1, countMax) }, () =>
      randomSource(random, places, faults.happens('poison_document')),
    );
    const { jobKey, itemIds } = await process.engine.commands.submit({
      caller,
      corpus: random.pick(corpora),
      sources,
      priority: random.chance(0.2) ? random.whole(0, 9) : undefined,
      force: random.chance(0.2),
      lane: setting.batches && random.chance(0.8) ? 'cheap' : undefined,
    });
    recorder.acknowledged.push({ caller, jobKey, itemIds });
    recorder.tell(() => `${process.name} accepts ${jobKey} with items ${itemIds.join(' ')}`);
  }

  /** Resumes paused jobs: at the end, when people return to their work. */
  async resumeAll(): Promise<void> {
    const process = this.#options.reach();
    if (!process) return;
    for (const { key, caller, state } of await this.#options.setting.store.run(jobs)) {
      if (state !== 'paused') continue;
      void this.#try(process, `resume ${key}`, () => process.engine.commands.resume(caller, key));
    }
  }

  async #changeJob(process: SimulatedProcess): Promise<void> {
    const { random, recorder, store } = this.#options.setting;
    const known = await store.run(jobs);
    if (known.length === 0) return;
    const { key, caller } = random.pick(known);
    const { commands } = process.engine;
    const action = random.pick(['pause', 'resume', 'resume', 'cancel', 'retry', 'retry'] as const);
    if (action === 'cancel') recorder.touchedJobs.add(key);
    return this.#try(process, `${action} ${key}`, async () => {
      await commands[action](caller, key);
    });
  }

  async #changeItems(process: SimulatedProcess): Promise<void> {
    const { random, recorder, store } = this.#options.setting;
    const all = await store.run(inbox);
    if (all.length === 0) return;
    const { caller } = random.pick(all);
    const chosen = all.filter((row) => row.caller === caller && random.chance(0.6));
    if (chosen.length === 0) return;
    const ids = chosen.map(({ id }) => id);
    const { commands } = process.engine;
    if (random.chance(0.7)) {
      return this.#try(process, `retry items ${ids}`, async () => {
        await commands.retryItems(caller, ids);
      });
    }
    for (const { key } of chosen) recorder.touchedJobs.add(key);
    return this.#try(process, `discard items ${ids}`, async () => {
      await commands.discardItems(caller, ids);
    });
  }

  async #deleteDocument(process: SimulatedProcess): Promise<void> {
    const { random, recorder, store } = this.#options.setting;
    const all = await store.run(documents);
    if (all.length === 0) return;
    const { id, caller, newest_id } = random.pick(all);
    recorder.deletedDocuments.add(id);
    return this.#try(process, `delete document ${id}`, async () => {
      await process.engine.commands.deleteDocument(caller, id);
      recorder.deletions.set(id, newest_id);
    });
  }

  async #try(process: SimulatedProcess, what: string, action: () => Promise<void>): Promise<void> {
    const { recorder } = this.#options.setting;
    recorder.tell(() => `user asks ${process.name} to ${what}`);
    try {
      await action();
    } catch (error) {
      recorder.tell(() => `user hears: ${error}`);
      if (error instanceof Failure || (error as { code?: string }).code !== undefined) return;
      recorder.violate('commandsFailWithACode', `${what}: ${error}`);
    }
  }
}
