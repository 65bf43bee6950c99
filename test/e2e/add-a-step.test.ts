/** A new step is a row in the table and a function; no other code changes. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { open, type Pawl } from '../../src/index.ts';
import { Failure, type FailureCode } from '../../src/kernel/failure/failure.ts';
import { defineLifecycle, type StepRow, stepTable } from '../../src/kernel/lifecycle/item.ts';
import type { Pipeline, StepFunction } from '../../src/pipeline/pipeline.ts';
import { getText } from '../../src/store/document/documents.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { makeLatch } from '../support/test-world.ts';

/** The row: an unused bit, and its position between two other steps. */
const withSummary = defineLifecycle(
  stepTable.flatMap((row): StepRow[] => {
    if (row.step !== 'persisted') return [row];
    return [
      { step: 'summarized', bit: 8, after: ['content_extracted'], stage: 'chunking' },
      { ...row, after: [...row.after, 'summarized'] },
    ];
  }),
);

/** The function: the first sentence of the text. */
const summaries = new Map<number, string>();
const summarize: StepFunction = async ({ item, reader, scratch }) => {
  const held = scratch.get('extracted') as { text: string } | undefined;
  const text = held?.text ?? (await getText(reader, item.id))?.body ?? '';
  return {
    effect: async () => {
      summaries.set(item.id, /[^.]*\./.exec(text)?.[0]?.trim() ?? '');
      return undefined;
    },
  };
};

function pipelineWith(step: StepFunction) {
  return (documents: Pipeline): Pipeline => ({
    ...documents,
    lifecycle: withSummary,
    steps: { ...documents.steps, summarized: step },
    timeoutMs: (name) => (name === 'summarized' ? 10_000 : documents.timeoutMs(name)),
  });
}

async function setup(t: Cleanup, step: StepFunction): Promise<{ pawl: Pawl; data: string }> {
  const data = temporaryDirectory(t);
  const pawl = await open({ data, pipeline: pipelineWith(step) });
  t.after(() => pawl.close());
  return { pawl, data };
}

const letter = { id: 'letter', text: 'The cat is fine. It sends its regards.' };

describe('an added step', () => {
  test('runs for every document, and is in the history', async (t) => {
    const { pawl } = await setup(t, summarize);
    const job = await pawl.ingest([letter], { corpus: 'post' });
    const steps: string[] = [];
    for await (const event of job.events()) {
      if (event.kind === 'step_completed') steps.push(event.step ?? '');
    }
    assert.ok(steps.includes('summarized'), `steps: ${steps.join(', ')}`);
    assert.ok(steps.indexOf('summarized') < steps.indexOf('persisted'));
    const [item] = await job.items().all();
    assert.equal(item?.step, 'done');
    assert.equal(summaries.get(item?.itemId ?? 0), 'The cat is fine.');
    assert.equal((await pawl.search('post', 'regards', { mode: 'keyword' })).length, 1);
  });

  test('runs in parallel with another added step, and both before their successor', async (t) => {
    const rows = withSummary.steps.map((row): StepRow => {
      return row.step === 'persisted' ? { ...row, after: [...row.after, 'rated'] } : row;
    });
    const at = rows.findIndex(({ step }) => step === 'persisted');
    const rated = {
      step: 'rated',
      bit: 9,
      after: ['content_extracted'],
      stage: 'chunking',
    } as const;
    const both = makeLatch();
    const begun = new Set<string>();
    const meeting = (step: string): StepFunction => {
      return async () => {
        begun.add(step);
        if (begun.size === 2) both.open();
        await both.opened;
        return {};
      };
    };
    const pawl = await open({
      data: temporaryDirectory(t),
      pipeline: (documents) => ({
        ...documents,
        lifecycle: defineLifecycle(rows.toSpliced(at, 0, rated)),
        steps: { ...documents.steps, summarized: meeting('summarized'), rated: meeting('rated') },
        timeoutMs: (name) => (documents.steps[name] ? documents.timeoutMs(name) : 60_000),
      }),
    });
    t.after(() => pawl.close());
    const job = await pawl.ingest([letter], { corpus: 'post' });
    assert.equal((await job.wait()).state, 'succeeded');
  });

  test('works with a store that was created without it', async (t) => {
    const data = temporaryDirectory(t);
    const before = await open({ data });
    await (await before.ingest([letter], { corpus: 'post' })).wait();
    await before.close();

    const after = await open({ data, pipeline: pipelineWith(summarize) });
    t.after(() => after.close());
    const job = await after.ingest([{ ...letter, text: 'The dog is fine. It barks.' }], {
      corpus: 'post',
    });
    assert.equal((await job.wait()).state, 'succeeded');
    assert.equal((await after.search('post', 'barks', { mode: 'keyword' })).length, 1);
    assert.equal((await after.search('post', 'cat', { mode: 'keyword' })).length, 0);
  });

  test('is run by a job that was interrupted before it', async (t) => {
    const data = temporaryDirectory(t);
    const file = join(data, 'letter.txt');
    writeFileSync(file, letter.text);
    const before = await open({ data, work: false });
    const { id } = await before.ingest([file], { corpus: 'post' });
    await before.close();

    const after = await open({ data, pipeline: pipelineWith(summarize) });
    t.after(() => after.close());
    const job = await after.job(id);
    assert.equal((await job.wait()).state, 'succeeded');
    const [item] = await job.items().all();
    assert.equal(summaries.get(item?.itemId ?? 0), 'The cat is fine.');
    assert.equal(readFileSync(file, 'utf8'), letter.text);
  });
});

/** One code of each kind, and the expected reaction. */
const kinds: readonly { code: FailureCode; expected: 'retry_scheduled' | 'item_failed' }[] = [
  { code: 'rate_limited', expected: 'retry_scheduled' },
  { code: 'provider_unavailable', expected: 'retry_scheduled' },
  { code: 'step_output_invalid', expected: 'item_failed' },
  { code: 'provider_auth', expected: 'item_failed' },
];

describe('a failing added step', () => {
  for (const { code, expected } of kinds) {
    test(`with ${code}: ${expected}`, async (t) => {
      const { pawl } = await setup(t, async () => {
        throw new Failure(code, 'the summary failed');
      });
      const job = await pawl.ingest([letter], { corpus: 'post' });
      for await (const event of job.events()) {
        if (event.kind === expected && event.step === 'summarized') break;
      }
      const [item] = await job.items().all();
      assert.equal(item?.waitsOn, expected === 'retry_scheduled' ? 'time' : null);
      assert.equal(item?.step, expected === 'retry_scheduled' ? 'entity_extracted' : 'failed');
    });
  }
});
