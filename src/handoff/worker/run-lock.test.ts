import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turn } from '../../../test/support/test-world.ts';
import { RunLock } from './run-lock.ts';

const { signal } = new AbortController();

async function setup() {
  const lock = new RunLock();
  const entered: string[] = [];
  const note = async (name: string, entering: Promise<() => void>) => {
    const end = await entering;
    entered.push(name);
    return end;
  };
  return { lock, entered, note };
}

test('runs share the process; an exclusive run waits for them, and keeps others out', async () => {
  const { lock, entered, note } = await setup();
  const first = await note('first', lock.enter(signal));
  const second = await note('second', lock.enter(signal));
  const lone = note('lone', lock.enterAlone(signal));
  const third = note('third', lock.enter(signal));
  const other = note('other lone', lock.enterAlone(signal));
  first();
  await turn();
  assert.deepEqual(entered, ['first', 'second']);
  second();
  (await lone)();
  (await third)();
  (await other)();
  assert.deepEqual(entered, ['first', 'second', 'lone', 'third', 'other lone']);
});

test('a run that stops waiting for exclusive access lets the others in', async () => {
  const { lock, entered, note } = await setup();
  const first = await note('first', lock.enter(signal));
  const controller = new AbortController();
  const lone = lock.enterAlone(controller.signal);
  const second = note('second', lock.enter(signal));
  await turn();
  controller.abort(new Error('stopped'));
  await assert.rejects(lone, /stopped/);
  (await second)();
  first();
  assert.deepEqual(entered, ['first', 'second']);
});
