/**
 * Random changes of a folder, with crashes at commits and jumps of the clock. After a last run the
 * corpus equals the folder. No run removes what is there, and no text is paid for twice.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { open, type Pawl } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { Random } from '../simulation/random.ts';
import { firstSeed } from '../support/first-seed.ts';
import { type OpenaiServer, startOpenaiServer } from '../support/openai-server.ts';
import { patience } from '../support/patience.ts';
import { documentsOf, filesIn, syncNow, untilEnded } from '../support/sync-scene.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const corpus = 'docs';
const name = 'model';
const steps = 24;
const seeds = 2;

/** A folder that is changed at random, and the process that follows it. */
class Model {
  readonly folder: string;
  readonly #data: string;
  readonly #server: OpenaiServer;
  readonly #random: Random;
  #pawl: Pawl | undefined;
  #clockMs = 0;
  #commits = Number.POSITIVE_INFINITY;
  #texts = 0;
  readonly log: string[] = [];

  constructor(root: string, server: OpenaiServer, seed: number) {
    this.folder = join(root, 'docs');
    this.#data = join(root, 'store');
    this.#server = server;
    this.#random = new Random(seed);
    mkdirSync(this.folder);
    for (let file = 0; file < 14; file += 1) this.#write(`${file}.md`);
  }

  async start(): Promise<Pawl> {
    if (this.#pawl) return this.#pawl;
    const world = realWorld((point) => this.#pass(point));
    const pawl = await open({
      data: this.#data,
      world: { ...world, now: () => Date.now() + this.#clockMs },
      embedder: {
        choice: 'openai:metered-model@8',
        url: this.#server.url,
        key: 'sk-of-the-test',
        centsPerMillionTokens: 1,
      },
      onError: () => undefined,
    });
    await sessionOf(pawl).ask('POST /sources', {
      body: { corpus_name: corpus, location: this.folder, name },
    });
    this.#pawl = pawl;
    return pawl;
  }

  /** The process does nothing more, as after a kill; what is committed stays. */
  async crash(): Promise<void> {
    await this.#pawl?.close();
    this.#pawl = undefined;
    this.#commits = Number.POSITIVE_INFINITY;
  }

  #pass(point: string): void {
    if (!point.startsWith('sync.')) return;
    this.#commits -= 1;
    if (this.#commits < 0) throw new Error('the process is dead');
  }

  change(): void {
    const keys = [...filesIn(this.folder).keys()];
    const key = keys.length > 0 ? this.#random.pick(keys) : '0.md';
    const path = join(this.folder, key);
    const act = this.#random.pick([
      'create',
      'edit',
      'rename',
      'delete',
      'touch',
      'clock',
    ] as const);
    this.log.push(`${act} ${key}`);
    if (act === 'create') this.#write(`new/${this.#texts}.md`);
    else if (act === 'clock') this.#clockMs += this.#random.pick([-1, 1]) * 3_600_000;
    else if (!existsSync(path)) return;
    else if (act === 'edit') this.#write(key);
    else if (act === 'rename') {
      const target = join(this.folder, `moved/${this.#random.whole(0, 9)}/${this.#texts}.md`);
      this.#texts += 1;
      mkdirSync(dirname(target), { recursive: true });
      renameSync(path, target);
    } else if (act === 'delete') rmSync(path);
    else utimesSync(path, 1000, this.#random.whole(1000, 1_000_000));
  }

  /** A run, perhaps one that dies at a commit, perhaps of a folder that is not mounted. */
  async run(): Promise<void> {
    const isAway = this.#random.chance(0.2);
    const isDying = this.#random.chance(0.4);
    this.log.push(`run${isAway ? ' away' : ''}${isDying ? ' dying' : ''}`);
    const pawl = await this.start();
    const before = await documentsOf(pawl, corpus, this.folder);
    const files = new Set(filesIn(this.folder).keys());
    if (isAway) this.#unmount();
    if (isDying) {
      this.#commits = this.#random.whole(0, 6);
      const body = {};
      const { run_id } = await sessionOf(pawl).ask('POST /sources/:name/run', {
        params: { name },
        body,
      });
      await this.#untilDead(pawl, run_id);
      await this.crash();
    } else {
      await syncNow(pawl, name);
    }
    if (isAway) this.#mount();
    const after = await documentsOf(await this.start(), corpus, this.folder);
    for (const key of before.keys()) {
      assert.ok(!files.has(key) || after.has(key), `${key} was removed although it is there`);
    }
  }

  async #untilDead(pawl: Pawl, runId: number): Promise<void> {
    const params = { name, run: String(runId) };
    await until(
      async () => {
        const { ended_at, state } = await sessionOf(pawl).ask('GET /sources/:name/runs/:run', {
          params,
        });
        return this.#commits < 0 || ended_at !== null || state === 'held';
      },
      { what: 'the death of the process, or the end of the run' },
    );
  }

  #unmount(): void {
    renameSync(this.folder, `${this.folder}.away`);
    if (this.#random.chance(0.5)) mkdirSync(this.folder);
  }

  #mount(): void {
    rmSync(this.folder, { recursive: true, force: true });
    renameSync(`${this.folder}.away`, this.folder);
  }

  #write(key: string): void {
    const path = join(this.folder, key);
    this.#texts += 1;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `# Text ${this.#texts}\n\nThe heron ${this.#texts} waits.\n`);
    // Half of the files are old enough for their times to count.
    const past = Date.now() / 1000 - this.#random.whole(0, 1) * 1000;
    utimesSync(path, past, past);
  }
}

const first = firstSeed(import.meta.url);

for (let seed = first; seed < first + seeds; seed += 1) {
  test(`a corpus equals its folder after random changes and crashes, seed ${seed}`, {
    timeout: patience.testMs,
  }, async (t) => {
    const server = await startOpenaiServer(t);
    const model = new Model(temporaryDirectory(t), server, seed);
    t.after(() => model.crash());
    try {
      for (let step = 0; step < steps; step += 1) {
        if (step % 3 === 0) await model.run();
        else model.change();
      }
      const pawl = await model.start();
      const last = await syncNow(pawl, name);
      if (last.state === 'held') {
        const { run_id } = await sessionOf(pawl).ask('POST /sources/:name/apply', {
          params: { name },
        });
        await untilEnded(pawl, name, run_id);
      }
      assert.equal((await syncNow(pawl, name)).state, 'succeeded');
      for await (const { jobId } of pawl.jobs()) await (await pawl.job(jobId)).wait();
      const files = filesIn(model.folder);
      const documents = await documentsOf(pawl, corpus, model.folder);
      assert.deepEqual([...documents.keys()].sort(), [...files.keys()].sort());
      for (const [key, text] of files) {
        const [, line = ''] = /(The heron \d+ waits)/.exec(text) ?? [];
        assert.ok(documents.get(key)?.text.includes(line), `${key} has another text`);
      }
      assert.deepEqual(server.answered.toSorted(), [...new Set(server.answered)].sort());
    } catch (error) {
      console.log(model.log.join('\n'));
      throw error;
    }
  });
}
