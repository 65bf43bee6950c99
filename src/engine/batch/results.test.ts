import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { realWorld } from '../../app/world.ts';
import { openBlobDirectory } from '../../blob/directory.ts';
import type { ProviderJob } from '../../kernel/provider-state.ts';
import { mergedOutput } from './results.ts';

const one = { id: 'a.wav', text: 'one' };
const two = { id: 'b.wav', text: 'two' };
const jobs: readonly ProviderJob[] = [
  { external_job_id: '1', status: 'COMPLETED', model: 'long', result: [one] },
  { external_job_id: '2', status: 'FAILED', model: 'long', error: 'bad audio' },
  { external_job_id: '3', status: 'COMPLETED', model: 'short', result: [one, two] },
];

async function merged(folder: string, merge: 'flat' | 'by_model'): Promise<unknown> {
  const blobs = openBlobDirectory(folder, realWorld());
  const parts: Uint8Array[] = [];
  const output = mergedOutput(jobs, { taskType: 'transcription', merge, blobs, sources: [] });
  for await (const part of output) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

describe('the merged output of a task', () => {
  test('is one list if jobs have no models of their own', async (t) => {
    const output = await merged(temporaryDirectory(t), 'flat');
    assert.deepEqual(output, { transcriptions: [one, one, two] });
  });

  test('is one list per model if a job has one', async (t) => {
    const output = await merged(temporaryDirectory(t), 'by_model');
    assert.deepEqual(output, {
      long: { transcriptions: [one] },
      short: { transcriptions: [one, two] },
    });
  });
});
