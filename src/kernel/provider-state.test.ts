import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { batchJob } from './lifecycle/batch-job.ts';
import { eventsOf, transition } from './lifecycle/machine.ts';
import { checkProviderState, jobStatuses, stateOfStatus, statusAfter } from './provider-state.ts';

const result = [{ text: 'words' }];
const all = { task_type: 'transcription', dataset_ids: ['d'], invalid_urls: ['x'] };

/** One state for each kind of task and provider, with every field it may have. */
const states: Readonly<Record<string, Record<string, unknown>>> = {
  azure: {
    ...all,
    provider: 'AZURE',
    jobs: [{ external_job_id: 'https://a/t/1', status: 'COMPLETED', result, error: 'e' }],
  },
  sarvam: {
    ...all,
    provider: 'SARVAM',
    gcs_map: { j: 'gs://b/o' },
    jobs: [
      { external_job_id: 'j', status: 'SUBMITTED', result, error: 'e', transient_failures: 0 },
    ],
  },
  aws: {
    ...all,
    provider: 'AWS',
    jobs: [
      {
        external_job_id: 'name',
        gcs_uri: 'gs://b/o.wav',
        filename: 'o.wav',
        status: 'FAILED',
        result,
        error: 'e',
        transient_failures: 3,
      },
    ],
  },
  google: {
    ...all,
    provider: 'GOOGLE',
    jobs: ['long', 'short'].map((model) => ({
      model,
      external_job_id: `operations/${model}`,
      status: 'RUNNING',
      result,
      error: 'e',
      transient_failures: 1,
    })),
  },
  completion: {
    task_type: 'completion',
    input_dataset_ids: ['d'],
    jobs: [
      {
        model: 'gemini-2.5-flash',
        status: 'SUBMITTED',
        external_job_id: 'batches/1',
        output_uri: 'blob:1',
        error: 'e',
        transient_failures: 0,
      },
    ],
  },
};

describe('the state of a provider', () => {
  for (const [name, state] of Object.entries(states)) {
    test(`of ${name} is accepted unchanged`, () => assert.equal(checkProviderState(state), state));

    test(`of ${name} has no other field and lacks no required one`, () => {
      assert.throws(() => checkProviderState({ ...state, more: 1 }), /a field more/);
      const [job] = state.jobs as Record<string, unknown>[];
      const withJob = (changed: Record<string, unknown>) =>
        checkProviderState({ ...state, jobs: [changed] });
      assert.throws(() => withJob({ ...job, more: 1 }), /job 0 has a field more/);
      for (const field of ['external_job_id', 'status']) {
        assert.throws(() => withJob({ ...job, [field]: undefined }), new RegExp(field));
      }
      assert.throws(() => withJob({ ...job, status: 'submitted' }), /status of job 0/);
      assert.throws(() => withJob({ ...job, transient_failures: -1 }), /transient_failures/);
    });
  }

  test('is an object with a list of jobs', () => {
    for (const value of [null, 7, 'x', [], {}, { jobs: {} }]) {
      assert.throws(() => checkProviderState(value), { code: 'provider_state_invalid' });
    }
  });

  test('has a machine state for each of its words', () => {
    for (const status of jobStatuses) assert.ok(stateOfStatus[status]);
  });

  test('every move of a job in every status leads where the table has it, or throws', () => {
    for (const status of jobStatuses) {
      for (const event of eventsOf(batchJob)) {
        const after = () => statusAfter({ external_job_id: 'a', status }, event);
        const to = transition(batchJob, stateOfStatus[status], event);
        if (to === undefined) assert.throws(after, /no \w+ in /, `${event} in ${status}`);
        else assert.equal(stateOfStatus[after()], to, `${event} in ${status}`);
      }
    }
  });
});
