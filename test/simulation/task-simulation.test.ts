import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BatchOptions } from '../../src/engine/batch/submit.ts';
import { batchFailpoints } from '../../src/observe/failpoint.ts';
import type { Statement } from '../../src/store/driver/statement.ts';
import { firstSeed } from '../support/first-seed.ts';
import { patience } from '../support/patience.ts';
import { runTaskSeeds, type TaskBatch } from './task-batch.ts';

const seed = firstSeed(import.meta.url);
const seeds = 100;
const seedsMax = 500;
/** Known defects are searched from seed 1 in every run: see `planted.test.ts`. */
const plantedSeedsMax = 300;

function found(batch: TaskBatch): string[] {
  return batch.failed.flatMap(({ seed: failed, violations }) =>
    violations.map(
      (violation) =>
        `npm run simulate -- --scenario batch --seeds 1 --seed ${failed}: ${violation}`,
    ),
  );
}

const unpassed = ({ failpoints }: TaskBatch) =>
  batchFailpoints.filter((name) => !failpoints.has(name));

type Rewrite = readonly [pattern: RegExp, replacement: string];

/** The patterns that matched a statement: a rewrite that matches none tests nothing. */
const applied = new Set<RegExp>();

/** Rewrites statements on their way to the store. */
function rewriting(...rewrites: readonly Rewrite[]): (options: BatchOptions) => BatchOptions {
  return (options) => {
    const { database } = options;
    const changed = <S extends Statement<unknown>>(statement: S): S => ({
      ...statement,
      text: rewrites.reduce((text, [from, to]) => {
        if (from.test(text)) applied.add(from);
        return text.replace(from, to);
      }, statement.text),
    });
    const write: typeof database.write = (work) =>
      database.write((transaction) =>
        work({
          dialect: transaction.dialect,
          sent: () => transaction.sent(),
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

/** Reconcilers meet at every task, as if each had stalled for longer than its lock. */
const shortHold: Rewrite = [
  /next_at = :held_until(?=[^`]*WHERE state IN [^`]*served_by)/,
  "next_at = CASE WHEN state = 'in_progress' THEN :now + 1 ELSE :held_until END",
];

/** Each defect is between the code and its ports: the code itself has no switch for being wrong. */
const planted: Readonly<Record<string, (options: BatchOptions) => BatchOptions>> = {
  'the epoch of the process that took a task': rewriting([/epoch = epoch \+ 1, /, '']),
  'the comparison of the state with the expected one': rewriting(shortHold, [
    /state = :state AND state IN \([^)]*\)(?: AND epoch = :epoch)?/,
    'TRUE',
  ]),
};

describe('batch tasks under faults', () => {
  test(`keep every promise in ${seeds} seeds`, { timeout: patience.testMs }, async (context) => {
    const isEnough = (batch: TaskBatch) => unpassed(batch).length === 0 && batch.crashes > seeds;
    const more = { until: isEnough, seedsMax };
    const batch = await runTaskSeeds({ firstSeed: seed, seeds, more, violationsMax: 3 });
    context.diagnostic(`${batch.seedsRun} seeds, ${batch.tasks} tasks, ${batch.crashes} crashes`);
    assert.deepEqual(found(batch), []);
    assert.deepEqual(unpassed(batch), [], 'these failpoints were never passed');
    assert.ok(batch.crashes > seeds, 'there were crashes');
  });

  test('end once, even if two reconcilers meet at every task', async () => {
    const plant = rewriting(shortHold);
    const batch = await runTaskSeeds({ firstSeed: seed, seeds: 40, violationsMax: 1, plant });
    assert.deepEqual(found(batch), []);
    assert.ok(applied.has(shortHold[0]), 'the statement that takes due tasks was not found');
  });

  for (const [name, plant] of Object.entries(planted)) {
    test(`without ${name} are found to be broken`, {
      timeout: patience.testMs,
    }, async (context) => {
      const batch = await runTaskSeeds({
        firstSeed: 1,
        seeds: plantedSeedsMax,
        violationsMax: 1,
        plant,
      });
      const [first] = batch.failed;
      assert.ok(first, `${batch.seedsRun} seeds, and nothing was found`);
      context.diagnostic(`seed ${first.seed}: ${first.violations[0]}`);
    });
  }
});
