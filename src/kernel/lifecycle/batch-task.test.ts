import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchJob } from './batch-job.ts';
import { type BatchJobResult, batchTask, batchTaskEventFor } from './batch-task.ts';
import { transition } from './machine.ts';

const everyJob: readonly BatchJobResult[] = batchJob.states.flatMap((state) => [
  { state, partial: false },
  ...(state === 'completed' ? [{ state, partial: true }] : []),
]);

/** All lists of up to three jobs, each in every state. */
const everyList: readonly (readonly BatchJobResult[])[] = everyJob.flatMap((first) => [
  [first],
  ...everyJob.flatMap((second) => [
    [first, second],
    ...everyJob.map((third) => [first, second, third]),
  ]),
]);

test('a task whose provider state is gone fails', () => {
  assert.equal(batchTaskEventFor([]), 'fail');
});

test('a task is polled while any of its jobs is open', () => {
  for (const jobs of everyList) {
    const open = jobs.some(({ state }) => !batchJob.final.includes(state));
    assert.equal(batchTaskEventFor(jobs) === 'poll', open, JSON.stringify(jobs));
  }
});

test('ended jobs complete the task, complete it partly, or fail it', () => {
  const ended = everyList.filter((jobs) =>
    jobs.every(({ state }) => batchJob.final.includes(state)),
  );
  for (const jobs of ended) {
    const succeeded = jobs.filter(({ state }) => state === 'completed');
    const whole = succeeded.filter(({ partial }) => !partial);
    const expected =
      succeeded.length === 0
        ? 'fail'
        : whole.length === jobs.length
          ? 'complete'
          : 'complete_partly';
    assert.equal(batchTaskEventFor(jobs), expected, JSON.stringify(jobs));
  }
});

test('every state of the jobs leads to a move that a task in progress allows', () => {
  for (const jobs of everyList) {
    assert.notEqual(transition(batchTask, 'in_progress', batchTaskEventFor(jobs)), undefined);
  }
});

test('a second submission finds no edge, so the work is bought once', () => {
  assert.equal(transition(batchTask, 'in_progress', 'submit'), undefined);
});
