import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BatchOptions } from '../../src/engine/batch-submit.ts';
import { batchFailpoints } from '../../src/observe/failpoint.ts';
import type { Statement } from '../../src/store/statement.ts';
import { runTaskSeeds } from './task-batch.ts';

const seeds = 100;
const plantedSeedsMax = 300;

type Rewrite = readonly [pattern: RegExp, replacement: string];

/** Rewrites statements on their way to the store. */
function rewriting(...rewrites: readonly Rewrite[]): (options: BatchOptions) => BatchOptions {
  return (options) => {
    const { database } = options;
    const changed = <S extends Statement<unknown>>(statement: S): S => ({
      ...statement,
      text: rewrites.reduce((text, [from, to]) => text.replace(from, to), statement.text),
    });
    const write: typeof database.write = (work) =>
      database.write((transaction) =>
        work({
          dialect: transaction.dialect,
          run: (statement, parameters) => transaction.run(changed(statement), parameters),
          each: (statement, ...rest) => transaction.each(statement, ...rest),
          eachLater: (statement, ...rest) => transaction.eachLater(statement, ...rest),
          hits: (statement, ...rest) => transaction.hits(statement, ...rest),
          runLast: (statement, id) => transaction.runLast(statement, id),
        }),
      );
    return { ...options, database: { ...database, write } };
  };
}

/** Reconcilers meet at every task, as if each had stood still for longer than its hold. */
const shortHold: Rewrite = [
  /next_at = :held_until(?=[^`]*state = :state)/,
  "next_at = CASE WHEN state = 'in_progress' THEN :now + 1 ELSE :held_until END",
];

/** Each defect between the code and its ports, so that the code has no switch for being wrong. */
const planted: Readonly<Record<string, (options: BatchOptions) => BatchOptions>> = {
  'the epoch of whoever took a task': rewriting([/epoch = epoch \+ 1, /, '']),
  'the comparison of the state with what is believed': rewriting(shortHold, [
    /state = :from_state AND epoch = :epoch/,
    'TRUE',
  ]),
};

describe('batch tasks under trouble', () => {
  test(`keep every promise in ${seeds} seeds`, { timeout: 600_000 }, async (context) => {
    const batch = await runTaskSeeds({ firstSeed: 1, seeds, violationsMax: 3 });
    context.diagnostic(`${batch.tasks} tasks, ${batch.crashes} crashes`);
    const found = batch.failed.flatMap(({ seed, violations }) =>
      violations.map((violation) => `seed ${seed}: ${violation}`),
    );
    assert.deepEqual(found, []);
    const passed = batchFailpoints.filter((name) => !batch.failpoints.has(name));
    assert.deepEqual(passed, [], 'these failpoints were never passed');
    assert.ok(batch.crashes > seeds, 'there were crashes');
  });

  test('end once, even where two reconcilers meet at every task', async () => {
    const plant = rewriting(shortHold);
    const batch = await runTaskSeeds({ firstSeed: 1, seeds: 40, violationsMax: 1, plant });
    assert.deepEqual(
      batch.failed.flatMap(({ violations }) => violations),
      [],
    );
  });

  for (const [name, plant] of Object.entries(planted)) {
    test(`are found out without ${name}`, { timeout: 600_000 }, async (context) => {
      const batch = await runTaskSeeds({
        firstSeed: 1,
        seeds: plantedSeedsMax,
        violationsMax: 1,
        plant,
      });
      const [found] = batch.failed;
      assert.ok(found, `${batch.seedsRun} seeds, and nothing was found`);
      context.diagnostic(`seed ${found.seed}: ${found.violations[0]}`);
    });
  }
});
