/** Documents that hang, crash and grow, in a job with others. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import type { BlobStore } from '../../src/blob/blob.ts';
import { thisProcess } from '../../src/engine/item/liveness.ts';
import { open } from '../../src/index.ts';
import { extractStep } from '../../src/pipeline/extract/extract.ts';
import { processParser } from '../../src/pipeline/extract/process/process-parser.ts';
import { hasWritten } from '../support/process-state.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

const wild = import.meta.resolve('../../src/pipeline/extract/process/fixture/wild-parser.ts');

const noBlobs: BlobStore = {
  put: () => Promise.reject(new Error('inline documents have no blobs')),
  get: () => Promise.reject(new Error('inline documents have no blobs')),
};

/** A store whose pages control the behaviour of their parser. */
async function setup(t: TestContext, timeoutMs = 60_000) {
  const parser = processParser({
    owner: thisProcess(),
    world: realWorld(),
    module: wild,
    size: 2,
    timeoutMs,
  });
  const pawl = await open({
    data: temporaryDirectory(t),
    pipeline: (documents) => ({
      ...documents,
      steps: { ...documents.steps, content_extracted: extractStep(noBlobs, parser.parse) },
    }),
  });
  t.after(() => parser.close());
  t.after(() => pawl.close());
  const ingest = (...deeds: string[]) =>
    pawl.ingest(
      deeds.map((html) => ({ id: html, html })),
      { corpus: 'wild' },
    );
  return { pawl, parser, ingest };
}

test('a document that needs too much memory fails alone, with its code', async (t) => {
  const { pawl, ingest } = await setup(t);
  const job = await ingest('say The walrus.', 'bomb', 'fail encrypted_document');
  const { itemsDone, itemsFailed, causes } = await job.wait();
  assert.deepEqual([itemsDone, itemsFailed], [1, 2]);
  const codes = causes.map(({ cause }) => cause).sort();
  assert.deepEqual(codes, ['encrypted_document', 'parse_memory']);
  assert.equal((await pawl.search('wild', 'walrus')).length, 1);
});

test('a document that never ends is stopped after its time limit', async (t) => {
  const { ingest } = await setup(t, 500);
  const job = await ingest('spin');
  await job.wait();
  assert.deepEqual(
    (await job.summary()).causes.map(({ cause }) => cause),
    ['parse_timeout'],
  );
});

test('a document whose parser crashed is retried', async (t) => {
  const { ingest } = await setup(t);
  const job = await ingest('signal SIGSEGV');
  for await (const { kind, detail } of job.events()) {
    if (kind === 'step_failed') assert.equal(detail?.code, 'parse_crashed');
    if (kind === 'retry_scheduled') break;
    assert.notEqual(kind, 'item_failed');
  }
  await job.cancel();
});

for (const action of ['cancel', 'pause'] as const) {
  test(`to ${action} a job stops the parser of its document immediately`, async (t) => {
    const { parser, ingest } = await setup(t);
    await (await ingest('say A parser is ready.')).wait();
    const [pid] = parser.pids();
    const job = await ingest('spin');
    await until(() => hasWritten(pid, 'spinning'), { what: 'the parser at work' });
    await job[action]();
    await until(() => !existsSync(`/proc/${pid}`), { what: 'its end' });
  });
}
