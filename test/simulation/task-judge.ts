/** The invariants of batch tasks at the end, compared with the provider's records. */
import { batchTask } from '../../src/kernel/lifecycle/batch-task.ts';
import type { Event } from '../../src/observe/event.ts';
import type { BatchTaskRow } from '../../src/store/batch/tasks.ts';
import type { TruthJob, TruthProvider } from './task-provider.ts';

export interface TaskEvidence {
  readonly tasks: readonly BatchTaskRow[];
  readonly events: readonly Event[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly truth: TruthProvider;
  readonly canceled: ReadonlySet<string>;
}

const endKinds = [
  'batch_task_completed',
  'batch_task_partly_completed',
  'batch_task_failed',
  'batch_task_canceled',
];

export function judgeTasks(evidence: TaskEvidence): string[] {
  return [...bought(evidence), ...evidence.tasks.flatMap((task) => judge(task, evidence))];
}

/** If a job can be recognized, none is started twice. */
function bought({ truth, tasks }: TaskEvidence): string[] {
  return [...truth.begun].flatMap(([token, times]) => {
    const task = tasks.find(({ key }) => token.includes(key));
    const isKnown = task?.provider !== 'NONE';
    return isKnown && times > 1 ? [`${token} was started ${times} times`] : [];
  });
}

function judge(task: BatchTaskRow, evidence: TaskEvidence): string[] {
  const problem = (text: string): string => `task ${task.key} (${task.provider}): ${text}`;
  if (!batchTask.final.includes(task.state)) return [problem(`is still ${task.state}`)];
  const ends = evidence.events.filter(
    ({ kind, detail }) => endKinds.includes(kind) && detail?.task_id === task.key,
  );
  const problems: string[] = [];
  if (ends.length !== 1) problems.push(problem(`has ended ${ends.length} times`));
  if (evidence.canceled.has(task.key) !== (task.state === 'canceled')) {
    problems.push(problem(`is ${task.state}, and was ${ends.length > 0 ? 'canceled' : 'not'}`));
  }
  const isWhole = task.state === 'completed' || task.state === 'partial_complete';
  if (isWhole) problems.push(...judgeOutput(task, evidence).map(problem));
  return problems;
}

/** The output has each recording once: as the provider has it, or as failed with its job. */
function judgeOutput(task: BatchTaskRow, { blobs, truth }: TaskEvidence): string[] {
  const bytes = blobs.get(task.output_key ?? '');
  if (!bytes) return ['its output is gone'];
  const { transcriptions } = JSON.parse(Buffer.from(bytes).toString()) as {
    transcriptions: { id: string; text?: string; error?: string }[];
  };
  const { jobs } = JSON.parse(task.provider_state ?? '{}') as {
    jobs: { external_job_id: string; status: string; result?: unknown }[];
  };
  const { urls } = JSON.parse(task.input) as { urls: string[] };
  const brought = jobs
    .filter(({ result }) => result !== undefined)
    .map(({ external_job_id: id }) => truth.jobs.get(id));
  const heard = new Set(brought.flatMap((job) => [...(job?.sources ?? [])]));
  const unheard = urls.filter((url) => !heard.has(url)).map((url) => `${url} false`);
  const expected = [...brought.flatMap((job) => [...linesOf(job)]), ...unheard];
  const found = transcriptions.map(({ id, error }) => `${id} ${error === undefined}`);
  const problems: string[] = [];
  if (expected.sort().join() !== found.sort().join()) {
    problems.push(`has ${found.join(', ')} in place of ${expected.join(', ')}`);
  }
  const ok = expected.filter((line) => line.endsWith('true')).length;
  const isAll = jobs.every(({ status }) => status === 'COMPLETED') && ok === expected.length;
  if (isAll !== (task.state === 'completed')) problems.push(`is ${task.state} by mistake`);
  return problems;
}

function* linesOf(job: TruthJob | undefined): Generator<string, void> {
  for (const source of job?.sources ?? []) yield `${source} ${!job?.failing.has(source)}`;
}
