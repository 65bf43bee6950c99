import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { firstSeed } from '../support/first-seed.ts';
import { patience } from '../support/patience.ts';
import { type BatchResult, replaysOf, runBatch } from './batch.ts';
import { runSeed } from './simulation.ts';
import { openStore } from './store.ts';

const execute = promisify(execFile);

/** The short version of `npm run simulate`, with other seeds in each run. */
const seed = firstSeed(import.meta.url);
const seeds = 100;
/** Items of one document that ended in one commit left chunks of a replaced version. */
const violatedOnce = [5_008_697];
const cheapSeeds = 40;
/** Not every seed has paid work: up to this many are run until some has. */
const cheapSeedsMax = 400;

describe('the simulated world', () => {
  test(`keeps every promise in ${seeds} seeds`, async (context) => {
    const batch = await runBatch({ firstSeed: seed, seeds, violationsMax: 5 });
    context.diagnostic(`${batch.seedsPerSecond.toFixed(1)} seeds/s`);
    assert.deepEqual(replaysOf(batch), []);
  });

  for (const found of violatedOnce) {
    test(`keeps every promise in seed ${found}, which broke one before`, async () => {
      assert.deepEqual(
        replaysOf(await runBatch({ firstSeed: found, seeds: 1, violationsMax: 5 })),
        [],
      );
    });
  }

  test(`pays for nothing twice in the batch lane in ${cheapSeeds} seeds`, async (context) => {
    const passed = ['paid.before-commit', 'paid.after-commit', 'batch.after-submit'];
    const left = (batch: BatchResult) => passed.filter((name) => !batch.failpoints.has(name));
    const more = {
      until: (batch: BatchResult) => left(batch).length === 0,
      seedsMax: cheapSeedsMax,
    };
    const run = { firstSeed: seed, seeds: cheapSeeds, more, violationsMax: 5, isCheap: true };
    const batch = await runBatch(run);
    context.diagnostic(`${batch.seedsRun} seeds, ${batch.seedsPerSecond.toFixed(1)} seeds/s`);
    assert.deepEqual(replaysOf(batch, 'cheap'), []);
    assert.deepEqual(left(batch), [], 'these failpoints were never passed');
  });

  test('is the same for the same seed', async () => {
    const stories = async (): Promise<string[]> => {
      const store = await openStore();
      const hashes: string[] = [];
      for (let index = 0; index < 10; index++) {
        const run = { seed: seed + index, store, isTracing: true };
        const { lines, turns } = await runSeed(run);
        hashes.push(
          createHash('sha256')
            .update(`${turns}\n${lines.join('\n')}`)
            .digest('hex'),
        );
      }
      await store.database.close();
      return hashes;
    };
    assert.deepEqual(await stories(), await stories());
  });

  test('is the same when it is replayed alone', async () => {
    const store = await openStore();
    for (const each of [seed, seed + 1]) {
      const { lines, turns, items } = await runSeed({ seed: each, store, isTracing: true });
      const { stdout } = await execute(
        process.execPath,
        ['test/simulation/run.ts', '--seeds', '1', '--seed', String(each)],
        { timeout: patience.eventMs, maxBuffer: 2 ** 26 },
      );
      const story = [...lines, `seed ${each}: ${items} items, ${turns} turns`].join('\n');
      assert.equal(stdout.slice(0, story.length), story);
    }
    await store.database.close();
  });

  test('differs for another seed', async () => {
    const store = await openStore();
    const first = await runSeed({ seed, store, isTracing: true });
    const second = await runSeed({ seed: seed + 1, store, isTracing: true });
    await store.database.close();
    assert.notDeepEqual(first.lines, second.lines);
  });
});
