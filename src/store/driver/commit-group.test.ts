import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestWorld } from '../../../test/support/test-world.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { CommitGroup, type Settled } from './commit-group.ts';
import type { Transaction } from './database.ts';

interface Setup {
  readonly sizeMax?: number;
  readonly apply?: (batch: readonly string[]) => Settled<string>[];
}

/** Work is a key and a text; its result is the text in capitals. */
function setup({ sizeMax = 10, apply = done }: Setup = {}) {
  const batches: string[][] = [];
  const group = new CommitGroup<string, string>({
    world: new TestWorld(),
    sizeMax,
    keyOf: (one) => (one.startsWith('?') ? undefined : one.split(' ')[0]),
    database: {
      write: (work) => work({} as Transaction),
    },
    apply: async (_, batch) => {
      batches.push([...batch]);
      return apply(batch);
    },
  });
  const add = (...all: string[]) => Promise.allSettled(all.map((one) => group.add(one)));
  return { group, batches, add };
}

function done(batch: readonly string[]): Settled<string>[] {
  return batch.map((one) => ({ value: one.toUpperCase() }));
}

describe('a group of commits', () => {
  test('commits work of one turn together, and each gets its own result', async () => {
    const { group, batches } = setup();
    const all = await Promise.all(['a 1', 'b 1', 'c 1'].map((one) => group.add(one)));
    assert.deepEqual(all, ['A 1', 'B 1', 'C 1']);
    assert.deepEqual(batches, [['a 1', 'b 1', 'c 1']]);
  });

  test('never has two of one key in a commit, and keeps their order', async () => {
    const { batches, add } = setup();
    await add('a 1', 'a 2', 'b 1', 'a 3', 'b 2');
    assert.deepEqual(batches, [['a 1', 'b 1'], ['a 2', 'b 2'], ['a 3']]);
  });

  test('commits work without a key alone', async () => {
    const { batches, add } = setup();
    await add('a 1', '? 1', 'b 1', '? 2');
    assert.deepEqual(batches, [['a 1', 'b 1'], ['? 1'], ['? 2']]);
  });

  test('has a limit of pieces', async () => {
    const { batches, add } = setup({ sizeMax: 2 });
    await add('a 1', 'b 1', 'c 1');
    assert.deepEqual(batches, [['a 1', 'b 1'], ['c 1']]);
  });

  test('refuses one without an effect on the others', async () => {
    const refusal = new Failure('bad_request', 'no');
    const { batches, add } = setup({
      apply: (batch) => batch.map((one) => (one === 'b 1' ? { refusal } : { value: one })),
    });
    const ends = await add('a 1', 'b 1');
    assert.deepEqual(
      ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.code)),
      ['a 1', 'bad_request'],
    );
    assert.equal(batches.length, 1);
  });

  test('retries each alone if one of them fails the commit for all', async () => {
    const { batches, add } = setup({
      apply: (batch) => {
        if (batch.includes('b 1')) throw new Error('the value is too long');
        return done(batch);
      },
    });
    const ends = await add('a 1', 'b 1', 'c 1');
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(batches, [['a 1', 'b 1', 'c 1'], ['a 1'], ['b 1'], ['c 1']]);
  });

  test('does not retry them while the store is away, and continues when it is back', async () => {
    let isAway = true;
    const { batches, add } = setup({
      apply: (batch) => {
        if (isAway) throw new Failure('store_busy', 'Postgres did not answer');
        return done(batch);
      },
    });
    const ends = await add('a 1', 'b 1');
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal(batches.length, 1);
    isAway = false;
    assert.deepEqual(await add('a 1'), [{ status: 'fulfilled', value: 'A 1' }]);
  });
});
