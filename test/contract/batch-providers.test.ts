/** What every provider's adapter must do, against a server that behaves like the provider's. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../../src/kernel/limits/limits.ts';
import { BatchFixture } from '../support/batch/fixture.ts';
import { breaksOff, htmlPage, type Reply } from '../support/batch/provider-server.ts';
import { type ProviderCase, providerCases } from '../support/batch/providers.ts';
import { submitDue } from '../support/batch/rounds.ts';
import { openSqliteMemory } from '../support/store-opener.ts';
import type { Cleanup } from '../support/temporary.ts';
import { makeLatch } from '../support/test-world.ts';

interface Bench extends ProviderCase {
  readonly fixture: BatchFixture;
  readonly recognizedBy: string;
}

async function setup(t: Cleanup, make: () => ProviderCase): Promise<Bench> {
  const row = make();
  await row.server.start(t);
  const store = await openSqliteMemory(t);
  row.setClock?.(() => store.world.now());
  const provider = row.make();
  const fixture = new BatchFixture(store, [provider]);
  const { recognizedBy } = provider;
  return Object.assign(Object.create(row), { fixture, recognizedBy });
}

async function begin({ fixture, body }: Bench): Promise<string> {
  const key = await fixture.submit(body);
  await fixture.deliver();
  return key;
}

interface Entry {
  readonly id: string;
  readonly error?: string;
}

/** The first list of results, for every kind of merged output. */
function listOf(output: unknown): readonly Entry[] {
  const lists = Object.values(output as Record<string, unknown>).flatMap((value) =>
    Array.isArray(value) ? [value] : Object.values(value as Record<string, object[]>),
  ) as Entry[][];
  return lists[0] ?? [];
}

function idsOf(output: unknown): string[] {
  return listOf(output)
    .map(({ id }) => id)
    .sort();
}

function entryOf(output: unknown, id: string): Entry | undefined {
  return listOf(output).find((entry) => entry.id === id);
}

/** A process that dies after its provider has answered: from then on it writes nothing. */
async function dieBeforeCommit(bench: Bench): Promise<void> {
  const { options, signal } = bench.fixture;
  const { world, database } = options;
  const death = makeLatch();
  let isDead = false;
  const dying = {
    now: () => world.now(),
    setTimer: world.setTimer.bind(world),
    afterTurn: world.afterTurn.bind(world),
    random: () => world.random(),
    uuid: () => world.uuid(),
    failpoint: (name: string) => {
      if (name !== 'batch.after-submit') return;
      isDead = true;
      death.open();
    },
  };
  const write: typeof database.write = (work) =>
    isDead ? new Promise(() => undefined) : database.write(work);
  const submitted = submitDue(
    { ...options, world: dying, database: { ...database, write } },
    signal,
  );
  // A dead process writes nothing, so its submission does not end.
  const survived = submitted.then(() => assert.fail('the provider refused the submission'));
  await Promise.race([death.opened, survived]);
}

const temporary: Readonly<Record<string, Reply>> = {
  'an error of the server': { status: 500 },
  'a page of HTML': htmlPage,
  'half a response': breaksOff,
  'invalid UTF-8': { body: Buffer.from([0x7b, 0xff, 0x7d]) },
  'a list instead of an object': { body: [] },
};

for (const [name, make] of Object.entries(providerCases)) {
  describe(name, () => {
    test('starts jobs in the documented shape', async (t) => {
      const bench = await setup(t, make);
      const key = await begin(bench);
      const { jobs } = await bench.fixture.state(key);
      const found = JSON.stringify(jobs).replaceAll(key, 'TASK');
      assert.deepEqual(JSON.parse(found), bench.firstJobs);
    });

    test('moves from submitted over running to completed, with all results', async (t) => {
      const bench = await setup(t, make);
      const key = await begin(bench);
      await bench.fixture.poll();
      const statuses = (await bench.fixture.state(key)).jobs.map(({ status }) => status);
      assert.ok(statuses.every((status) => status === 'RUNNING'));
      await bench.fixture.poll(2);
      assert.equal((await bench.fixture.task(key)).state, 'completed');
      const output = await bench.fixture.output(key);
      assert.deepEqual(idsOf(output), [...bench.ids].sort());
      assert.deepEqual(bench.fixture.errors, []);
      const transcripts = (output as { transcriptions?: { duration_ms?: number }[] })
        .transcriptions;
      for (const { duration_ms: heard } of transcripts ?? []) assert.equal(heard, 4_120);
    });

    test('keeps successful parts if another part failed', async (t) => {
      const bench = await setup(t, make);
      bench.failSecond();
      const key = await begin(bench);
      await bench.fixture.poll(3);
      const row = await bench.fixture.task(key);
      assert.equal(row.state, 'partial_complete', row.error ?? '');
      const output = await bench.fixture.output(key);
      // The same for all: readers of the output need not know how a provider splits its work.
      assert.deepEqual(idsOf(output), [...bench.ids].sort());
      const [good, bad] = bench.ids.map((id) => entryOf(output, id));
      assert.equal(good?.error, undefined);
      assert.deepEqual(Object.keys(bad ?? {}), ['id', 'error', 'retryable']);
      assert.equal(typeof bad?.error, 'string');
    });

    test('waits as long as a rate limit says', async (t) => {
      const bench = await setup(t, make);
      const key = await begin(bench);
      const headers = { 'retry-after': '900' };
      bench.server.trouble({ on: bench.asks, reply: { status: 429, headers }, times: 2 });
      await bench.fixture.poll();
      const calls = bench.server.count(bench.asks);
      await bench.fixture.poll(5);
      assert.equal(bench.server.count(bench.asks), calls);
      await bench.fixture.poll(15);
      assert.equal((await bench.fixture.task(key)).state, 'completed');
    });

    for (const [what, reply] of Object.entries(temporary)) {
      test(`survives ${what} instead of a status`, async (t) => {
        const bench = await setup(t, make);
        const key = await begin(bench);
        bench.server.trouble({ on: bench.asks, reply, times: 2 });
        await bench.fixture.poll(5);
        assert.equal((await bench.fixture.task(key)).state, 'completed');
        assert.equal((await bench.fixture.task(key)).poll_errors, 2);
      });
    }

    test('fails after three consecutive errors', async (t) => {
      const bench = await setup(t, make);
      const key = await begin(bench);
      bench.server.trouble({ on: bench.asks, reply: { status: 503 }, times: 100 });
      await bench.fixture.poll(3);
      assert.equal((await bench.fixture.task(key)).state, 'failed');
    });

    test('fails when the provider no longer knows the job', async (t) => {
      const bench = await setup(t, make);
      const key = await begin(bench);
      await bench.fixture.poll();
      bench.forget();
      await bench.fixture.poll(2);
      assert.equal((await bench.fixture.task(key)).state, 'in_progress');
      await bench.fixture.poll();
      assert.equal((await bench.fixture.task(key)).state, 'failed');
    });

    test('receives a cancel', async (t) => {
      const bench = await setup(t, make);
      const key = await begin(bench);
      await bench.fixture.commands.cancel('ann', key);
      // A provider that cannot end a job is polled until the job has ended.
      await bench.fixture.poll(10);
      assert.equal(bench.canceled(), bench.firstJobs.length);
      assert.equal((await bench.fixture.task(key)).is_cancel_due, 0);
    });

    test('recognizes its job after a crash, if the provider allows it', async (t) => {
      const bench = await setup(t, make);
      const key = await bench.fixture.submit(bench.body);
      await dieBeforeCommit(bench);
      assert.equal((await bench.fixture.task(key)).state, 'pending');
      bench.fixture.store.world.skip(limits.batch.holdMs);
      await bench.fixture.deliver();
      const isKnown = bench.recognizedBy !== 'none';
      assert.equal(bench.jobs(), bench.firstJobs.length + (isKnown ? 0 : 1));
      await bench.fixture.poll(3);
      assert.equal((await bench.fixture.task(key)).state, 'completed');
    });

    test('fails immediately if the key is refused', async (t) => {
      const bench = await setup(t, make);
      bench.server.trouble({ on: bench.begins, reply: { status: 401 }, times: 100 });
      const key = await begin(bench);
      const row = await bench.fixture.task(key);
      assert.equal(row.state, 'failed');
      assert.match(row.error ?? '', /401/);
    });
  });
}
