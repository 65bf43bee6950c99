/** What Pawl relies on in a batch provider. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { sayings } from '../kernel/batch-decision.ts';
import type {
  BatchJobRef,
  BatchProvider,
  BatchRequest,
  NewBatchJob,
  PollAnswer,
  ResultLine,
  SubmitContext,
} from '../provider/batch/batch-provider.ts';
import { checkProvider } from '../provider/batch/check-provider.ts';
import { type Case, type Cleanup, conformance, endless } from './conformance.ts';

export interface BatchProviderCase {
  readonly provider: BatchProvider;
  /** A small task that the provider can do: with recordings, or with requests. */
  readonly task: {
    readonly taskType: string;
    readonly model?: string | undefined;
    readonly language?: string | undefined;
    readonly sources?: readonly string[] | undefined;
    readonly requests?: readonly BatchRequest[] | undefined;
  };
  /** Lets the jobs that were submitted end. Absent: they end by themselves, within some polls. */
  finish?(): Promise<void> | void;
  /** How many jobs were ever started, to see that none is started twice. */
  started?(): Promise<number> | number;
}

/** A job that never ends would poll forever. */
const pollsMax = 1_000;

/** A provider that works on single sources gets jobs with one. */
function sourcesOf({ provider, task }: BatchProviderCase): readonly string[] {
  const { sources = [] } = task;
  return provider.split.startsWith('source') ? sources.slice(0, 1) : sources;
}

function newJob(given: BatchProviderCase): NewBatchJob {
  const { taskType, model, language, requests = [] } = given.task;
  const sources = sourcesOf(given);
  return {
    taskType,
    model,
    language,
    sources,
    token: `pawl-${randomUUID()}`,
    requests: async function* () {
      yield* requests;
    },
  };
}

/** What the tries of one job share: the notes, and when it was first intended. */
function newContext(intendedAt = Date.now()): SubmitContext {
  const notes: Record<string, string> = {};
  const note = async (name: string, value: string): Promise<void> => {
    notes[name] = value;
  };
  return { signal: endless(), intendedAt, notes, note };
}

function refOf(job: NewBatchJob, externalId: string): BatchJobRef {
  const { taskType, token, model, sources } = job;
  return { taskType, token, model, sources, externalId };
}

async function submitted(given: BatchProviderCase) {
  const job = newJob(given);
  const context = newContext();
  const externalId = await given.provider.submit(job, context);
  assert.equal(typeof externalId, 'string', 'submit returns the id of the job at the provider');
  assert.notEqual(externalId, '');
  return { job, context, ref: refOf(job, externalId) };
}

async function poll({ provider }: BatchProviderCase, ref: BatchJobRef): Promise<PollAnswer> {
  const answer = await provider.poll(ref, endless());
  assert.ok(sayings.includes(answer.said), `${answer.said} is none of ${sayings.join(', ')}`);
  return answer;
}

async function ended(given: BatchProviderCase, ref: BatchJobRef): Promise<PollAnswer> {
  await given.finish?.();
  for (let polls = 0; polls < pollsMax; polls++) {
    const answer = await poll(given, ref);
    if (answer.said !== 'running') return answer;
    await setImmediate();
  }
  return assert.fail(`the job is still running after ${pollsMax} polls`);
}

function checkLine(line: ResultLine): void {
  assert.equal(typeof line.id, 'string', 'a result has no id of a source or a request');
  if (line.id === undefined) return;
  if (!line.isOk) {
    assert.equal(typeof line.error, 'string');
    assert.equal(typeof line.isRetryable, 'boolean');
    return;
  }
  assert.ok(typeof line.value === 'object' && line.value !== null && !Array.isArray(line.value));
  for (const tokens of [line.tokensIn, line.tokensOut]) {
    assert.ok(tokens === undefined || (Number.isInteger(tokens) && tokens >= 0));
  }
}

const cases: readonly Case<BatchProviderCase>[] = [
  [
    'it has every member of the port, and takes the task',
    async ({ provider, task }) => {
      checkProvider(provider, 'the suite');
      assert.ok(provider.taskTypes.includes(task.taskType), `it has no ${task.taskType}`);
      for (const source of task.sources ?? []) assert.equal(provider.refuses?.(source), undefined);
    },
  ],
  [
    'a job that was never submitted is not found',
    async (given) => {
      assert.equal(await given.provider.find(newJob(given), newContext()), undefined);
    },
  ],
  [
    'a job ends with one result for each source or request, under its id',
    async (given) => {
      const { ref } = await submitted(given);
      const { said, detail, results } = await ended(given, ref);
      assert.equal(said, 'completed', detail);
      assert.ok(results, 'a completed job has results');
      const ids: unknown[] = [];
      for await (const line of results()) {
        checkLine(line);
        ids.push(line.id);
      }
      const asked = (given.task.requests ?? []).map(({ custom_id }) => custom_id);
      assert.deepEqual(ids.sort(), [...sourcesOf(given), ...asked].sort());
    },
  ],
  [
    'two jobs at the same time are two jobs',
    async (given) => {
      const [one, other] = [await submitted(given), await submitted(given)];
      assert.notEqual(one.ref.externalId, other.ref.externalId);
      for (const { ref } of [one, other]) {
        assert.equal((await ended(given, ref)).said, 'completed');
      }
    },
  ],
  [
    'a job that was started before a crash is found, and nothing else is',
    async (given) => {
      const { provider } = given;
      const { job, context, ref } = await submitted(given);
      const before = await given.started?.();
      const found = await provider.find(job, context);
      const expected = provider.recognizedBy === 'none' ? undefined : ref.externalId;
      assert.equal(found, expected, `recognizedBy is ${provider.recognizedBy}`);
      // Some providers show no name of ours: what was intended later is another job.
      const later = newContext(Date.now() + 60_000);
      assert.equal(await provider.find(newJob(given), later), undefined);
      assert.equal(await given.started?.(), before, 'looking for a job started another one');
    },
  ],
  [
    'a job that the provider does not know has not succeeded, and is not running',
    async (given) => {
      const { ref } = await submitted(given);
      const externalId = `${ref.externalId.slice(0, -1)}0-unknown`;
      const { said } = await poll(given, { ...ref, externalId });
      assert.ok(!['running', 'completed', 'limited', 'postponed'].includes(said), said);
    },
  ],
  [
    'a canceled job ends',
    async (given) => {
      const { ref } = await submitted(given);
      const isCanceled = await given.provider.cancel(ref, endless());
      assert.equal(typeof isCanceled, 'boolean', 'cancel says whether the provider can cancel');
      await ended(given, ref);
    },
  ],
];

/** Registers the tests of a batch provider with `node:test`. */
export function batchProviderConformance(
  name: string,
  make: (t: Cleanup) => Promise<BatchProviderCase> | BatchProviderCase,
): void {
  conformance(`the batch provider ${name}`, cases, make);
}
