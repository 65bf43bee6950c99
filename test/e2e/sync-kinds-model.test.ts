/**
 * Random changes of sources of each kind, with crashes at commits and unreachable places. In the
 * end the corpus equals the source, and no text was paid for twice.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { open, type Pawl } from '../../src/index.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { Random } from '../simulation/random.ts';
import { firstSeed } from '../support/first-seed.ts';
import { type OpenaiServer, startOpenaiServer } from '../support/openai-server.ts';
import { patience } from '../support/patience.ts';
import { type TestPlace, testPlaces } from '../support/sync-places.ts';
import { documentsOf, syncNow, untilEnded } from '../support/sync-scene.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const corpus = 'docs';
const name = 'model';
const steps = 18;

interface ModelOptions {
  readonly place: TestPlace;
  readonly data: string;
  readonly server: OpenaiServer;
  readonly seed: number;
}

class Model {
  readonly #options: ModelOptions;
  readonly #random: Random;
  readonly texts = new Map<string, string>();
  readonly log: string[] = [];
  #pawl: Pawl | undefined;
  #commits = Number.POSITIVE_INFINITY;
  #made = 0;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    for (let number = 0; number < 8; number += 1) this.#write(`${number}.md`);
  }

  async start(): Promise<Pawl> {
    if (this.#pawl) return this.#pawl;
    const { data, server, place } = this.#options;
    const pawl = await open({
      data,
      world: realWorld((point) => this.#pass(point)),
      embedder: {
        choice: 'openai:metered-model@8',
        url: server.url,
        key: 'sk-of-the-test',
        centsPerMillionTokens: 1,
      },
      onError: () => undefined,
      ...place.opening,
    });
    const { kind, location, options } = place;
    await sessionOf(pawl).ask('POST /sources', {
      body: { corpus_name: corpus, kind, location, name, ...options },
    });
    this.#pawl = pawl;
    return pawl;
  }

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
    const { place } = this.#options;
    const act = this.#random.pick(['create', 'edit', 'rename', 'delete'] as const);
    const key = this.#random.pick([...this.texts.keys(), 'none.md']);
    this.log.push(`${act} ${key}`);
    const text = this.texts.get(key);
    if (act === 'create') this.#write(`new-${this.#made}.md`);
    else if (text === undefined) return;
    else if (act === 'edit') this.#write(key);
    else if (act === 'delete') {
      place.remove(key);
      this.texts.delete(key);
    } else if (place.rename) {
      const to = `moved-${this.#made}.md`;
      this.#made += 1;
      place.rename(key, to);
      this.texts.delete(key);
      this.texts.set(to, text);
    }
  }

  async run(): Promise<void> {
    const { place } = this.#options;
    const isAway = this.#random.chance(0.2);
    const isDying = this.#random.chance(0.5);
    this.log.push(`run${isAway ? ' away' : ''}${isDying ? ' dying' : ''}`);
    const pawl = await this.start();
    const before = await this.keys();
    if (isAway) place.lose();
    if (isDying) {
      this.#commits = this.#random.whole(0, 7);
      const ask = { params: { name }, body: {} };
      const { run_id } = await sessionOf(pawl).ask('POST /sources/:name/run', ask);
      await this.#untilDead(pawl, run_id);
      await this.crash();
    } else {
      await syncNow(pawl, name);
    }
    if (isAway) place.find();
    const after = await this.keys();
    for (const key of before) {
      assert.ok(!this.texts.has(key) || after.has(key), `${key} was removed although it is there`);
    }
  }

  async keys(): Promise<ReadonlySet<string>> {
    return new Set((await this.documents()).keys());
  }

  async documents() {
    const { prefix } = this.#options.place;
    const documents = await documentsOf(await this.start(), corpus, 'none');
    return new Map([...documents].map(([source, each]) => [source.slice(prefix.length), each]));
  }

  /** A kind may want two listings to agree before it removes something. */
  async settle(): Promise<void> {
    for (let run = 0; run < 3; run += 1) {
      const pawl = await this.start();
      const ended = await syncNow(pawl, name);
      if (ended.state === 'held') {
        const { run_id } = await sessionOf(pawl).ask('POST /sources/:name/apply', {
          params: { name },
        });
        await untilEnded(pawl, name, run_id);
      }
    }
    const pawl = await this.start();
    assert.equal((await syncNow(pawl, name)).state, 'succeeded');
    for await (const { jobId } of pawl.jobs()) await (await pawl.job(jobId)).wait();
  }

  async #untilDead(pawl: Pawl, runId: number): Promise<void> {
    const params = { name, run: String(runId) };
    await until(
      async () => {
        const run = await sessionOf(pawl).ask('GET /sources/:name/runs/:run', { params });
        return this.#commits < 0 || run.ended_at !== null || run.state === 'held';
      },
      { what: 'the death of the process, or the end of the run' },
    );
  }

  #write(key: string): void {
    this.#made += 1;
    const text = `# Text ${this.#made}\n\nThe heron ${this.#made} waits.\n`;
    this.texts.set(key, text);
    this.#options.place.write(key, text);
  }
}

const seed = firstSeed(import.meta.url);

for (const makePlace of testPlaces) {
  const title = `a corpus equals its source after random changes: ${makePlace.name}, seed ${seed}`;
  test(title, {
    timeout: patience.testMs,
  }, async (t) => {
    const server = await startOpenaiServer(t);
    const place = await makePlace(t);
    const model = new Model({ place, data: join(temporaryDirectory(t), 'store'), server, seed });
    t.after(() => model.crash());
    try {
      for (let step = 0; step < steps; step += 1) {
        if (step % 3 === 0) await model.run();
        else model.change();
      }
      await model.settle();
      const documents = await model.documents();
      documents.delete('');
      assert.deepEqual([...documents.keys()].sort(), [...model.texts.keys()].sort());
      for (const [key, text] of model.texts) {
        const [line = ''] = /The heron \d+ waits/.exec(text) ?? [];
        assert.ok(documents.get(key)?.text.includes(line), `${key} has another text`);
      }
      assert.deepEqual(server.answered.toSorted(), [...new Set(server.answered)].sort());
    } catch (error) {
      console.log(model.log.join('\n'));
      throw error;
    }
  });
}
