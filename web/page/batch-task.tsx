/** One batch task: its state, the status of each provider job, and its results. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { batchTask } from '../../src/kernel/lifecycle/batch-task.ts';
import type { JsonObject, ProviderState } from '../../src/kernel/provider-state.ts';
import type { Task } from '../live/task-list.ts';
import { Badge, Facts, Problem, Skeleton, Time, type Tone, Wide } from '../part/basic.tsx';
import { Confirm } from '../part/dialog.tsx';
import { MachineDiagram } from '../part/machine-diagram.tsx';
import { count, words } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { TaskOutput } from './batch-output.tsx';
import { costText, TaskBadge, taskName } from './task-status.tsx';
import '../style/text.css';

export function BatchTaskPage() {
  const { id } = useParams({ from: '/batch/$id' });
  const { client } = useWorkbench();
  const query = useQuery({
    queryKey: ['batch-task', id],
    queryFn: ({ signal }) => client().ask('GET /batch/tasks/:id', { params: { id }, signal }),
  });
  const { data: task } = query;
  return (
    <div className="page">
      <Link to="/batch" className="soft small">
        ← Batch tasks
      </Link>
      {!task && <h1>Batch task</h1>}
      {query.isPending && <Skeleton lines={8} />}
      {query.isError && !task && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      {task && <TaskView task={task} />}
    </div>
  );
}

function TaskView({ task }: { task: Task }) {
  return (
    <>
      <header className="page-head">
        <h1>{taskName(task)}</h1>
        <TaskBadge state={task.state} />
        <code className="soft">{task.task_id}</code>
        {task.actions.includes('cancel') && <CancelTask task={task} />}
      </header>
      {task.error && <TaskError error={task.error} />}
      <TaskFacts task={task} />
      <ProviderJobs task={task} />
      {task.invalid_urls.length > 0 && <LeftOut urls={task.invalid_urls} />}
      {task.output !== null && <TaskOutput taskId={task.task_id} />}
      <section className="card stack">
        <h2>Lifecycle</h2>
        <Wide label="Lifecycle of the task">
          <MachineDiagram machine={batchTask} state={task.state} />
        </Wide>
      </section>
    </>
  );
}

function TaskFacts({ task }: { task: Task }) {
  const facts = [
    ...(task.waiting === null ? [] : [{ name: 'Pending', value: task.waiting }]),
    { name: 'Results', value: count(task.results_ok) },
    { name: 'Failed', value: count(task.results_failed) },
    { name: 'Tokens in', value: count(task.tokens.in) },
    { name: 'Tokens out', value: count(task.tokens.out) },
    { name: 'Cost', value: costText(task) },
    { name: 'Failed polls', value: count(task.poll_errors) },
    { name: 'Created', value: <Time at={task.created_at} /> },
    { name: 'Submitted', value: <Time at={task.submitted_at} /> },
    task.ended_at === null
      ? { name: 'Next poll', value: <Time at={task.next_at} /> }
      : { name: 'Ended', value: <Time at={task.ended_at} /> },
  ];
  return <Facts facts={facts} />;
}

const tones: Readonly<Record<string, Tone>> = {
  SUBMITTED: 'plain',
  RUNNING: 'run',
  COMPLETED: 'ok',
  PARTIAL_COMPLETE: 'warn',
  FAILED: 'bad',
};

function ProviderJobs({ task }: { task: Task }) {
  const state = task.provider_state as ProviderState | null;
  return (
    <section className="card stack" aria-label="Jobs at the provider">
      <h2>Jobs at the provider</h2>
      {state === null ? (
        <p className="soft">Not submitted to the provider yet.</p>
      ) : (
        <Wide label="Jobs">
          <table className="table">
            <thead>
              <tr>
                <th>Status</th>
                <th>Job</th>
                <th>Model</th>
                <th className="number">Failed tries</th>
                <th>Error</th>
              </tr>
            </thead>
            <tbody>
              {state.jobs.map((job) => (
                <tr key={`${job.external_job_id} ${job.model}`}>
                  <td>
                    <Badge tone={tones[job.status] ?? 'plain'}>{job.status}</Badge>
                  </td>
                  <td>
                    <code>{job.external_job_id}</code>
                  </td>
                  <td className="soft">{job.model ?? job.filename ?? '–'}</td>
                  <td className="number">{count(job.transient_failures ?? 0)}</td>
                  <td className="soft">{job.error ?? '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </section>
  );
}

function LeftOut({ urls }: { urls: readonly string[] }) {
  return (
    <section className="card stack" aria-label="Skipped addresses">
      <h2>Skipped</h2>
      <p className="soft">The provider does not accept these addresses.</p>
      <ul>
        {urls.map((url) => (
          <li key={url}>
            <code>{url}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

function TaskError({ error }: { error: JsonObject }) {
  const { code, message, ...rest } = error;
  const more = Object.entries(rest).filter(([, value]) => typeof value !== 'object');
  return (
    <div className="problem" role="alert">
      <h2>
        {String(message ?? 'The task failed')} {code !== undefined && <code>{String(code)}</code>}
      </h2>
      {more.length > 0 && (
        <p className="soft">
          {more.map(([name, value]) => `${words(name)}: ${String(value)}`).join(' · ')}
        </p>
      )}
    </div>
  );
}

function CancelTask({ task: { task_id: id } }: { task: Task }) {
  const { client, notices, queries } = useWorkbench();
  const [isAsking, setAsking] = useState(false);
  const cancel = useMutation({
    mutationFn: () => client().ask('POST /batch/tasks/:id/cancel', { params: { id } }),
    onSuccess: () => notices.tell('Canceled. The provider is notified as soon as it is reachable.'),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['batch-task', id] }),
  });
  return (
    <>
      <button
        type="button"
        className="button danger"
        disabled={cancel.isPending}
        onClick={() => setAsking(true)}
      >
        Cancel
      </button>
      {isAsking && (
        <Confirm
          title="Cancel this task?"
          verb="Cancel task"
          onConfirm={() => cancel.mutate()}
          onClose={() => setAsking(false)}
        >
          The task ends immediately. The provider may still charge for finished work.
        </Confirm>
      )}
    </>
  );
}
