/** Large results arrive complete, in bounded memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { putParts } from '../../src/blob/blob.ts';
import { openBlobDirectory } from '../../src/blob/directory.ts';
import { collectJob } from '../../src/engine/batch/collect.ts';
import { mergedOutput } from '../../src/engine/batch/results.ts';
import { readLines } from '../../src/provider/batch/answer.ts';
import type { BatchTaskRow } from '../../src/store/batch/tasks.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const mebibyte = 1024 * 1024;
const results = 5_000;
/** About 65 kB of JSON each, like 3072 floats. */
const vector = Array.from({ length: 3072 }, (_, index) => Math.sin(index + 1));

async function* answers(): AsyncGenerator<Uint8Array, void> {
  const embedding = JSON.stringify(vector);
  for (let place = 0; place < results; place += 1) {
    yield Buffer.from(`{"custom_id":"q-${place}","vector":${embedding}}\n`);
  }
}

test('5,000 vectors of 3072 floats are collected and merged without being held', async (t) => {
  const blobs = openBlobDirectory(temporaryDirectory(t), realWorld());
  const requests = Array.from({ length: results }, (_, place) => ({ custom_id: `q-${place}` }));
  const lines = requests.map((request) => JSON.stringify(request)).join('\n');
  const input = { models: ['m'], requests_key: await blobs.put(Buffer.from(lines)) };
  const row = { input: JSON.stringify(input), provider: null } as BatchTaskRow;
  const planned = { job: { sources: [] } } as unknown as Parameters<
    typeof collectJob
  >[0]['planned'];
  const entry = { external_job_id: 'x', status: 'RUNNING', model: 'm' } as const;
  const read = () =>
    readLines(answers(), (line) => ({
      ...{ id: String(line.custom_id), isOk: true as const, value: { vector: line.vector } },
    }));
  let peak = 0;
  const before = process.memoryUsage().rss;
  const look = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss - before);
  }, 20);
  t.after(() => clearInterval(look));
  const answer = { said: 'completed' as const, results: read };
  const collected = await collectJob({ planned, entry, answer }, { row, blobs });
  assert.deepEqual([collected.collected.ok, collected.collected.failed], [results, 0]);
  const merging = { taskType: 'embedding', merge: 'by_model', blobs, sources: [] } as const;
  const parts = mergedOutput([collected.entry], merging);
  const output = await putParts(blobs, parts);
  let bytes = 0;
  for await (const piece of (await blobs.getStream?.(output)) ?? []) bytes += piece.length;
  assert.ok(bytes > 256 * mebibyte, `${bytes} bytes`);
  t.diagnostic(`${Math.round(bytes / mebibyte)} MiB, peak ${Math.round(peak / mebibyte)} MiB`);
  assert.ok(peak < 256 * mebibyte, `memory grew by ${Math.round(peak / mebibyte)} MiB`);
});
