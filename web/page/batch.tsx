/** All batch tasks at outside providers, newest first, live. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { memo } from 'react';
import { batchTask } from '../../src/kernel/lifecycle/batch-task.ts';
import { type Task, type TaskState, tasksPerPage } from '../live/task-list.ts';
import { Empty, Problem, Skeleton, Time } from '../part/basic.tsx';
import { Menu } from '../part/choice.tsx';
import { LongList } from '../part/long-list.tsx';
import { usePaged } from '../part/paged.ts';
import { count, counted, words } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { costText, TaskBadge, taskName } from './task-status.tsx';

const rowHeight = 40;

function useTasks(state: TaskState | undefined) {
  const { client } = useWorkbench();
  return usePaged<Task>({
    key: ['batch-tasks', state ?? ''],
    read: ({ cursor, signal }) =>
      client().ask('GET /batch/tasks', { query: { state, limit: tasksPerPage, cursor }, signal }),
  });
}

export function BatchPage() {
  const { state } = useSearch({ from: '/batch' });
  const { query, rows, more } = useTasks(state);
  return (
    <div className="page fills">
      <header className="page-head">
        <h1>Batch tasks</h1>
        <span className="soft number">
          {counted(rows.length, 'task')}
          {more && ' so far'}
        </span>
        <Link to="/batch/new" className="button primary">
          New task
        </Link>
      </header>
      <StateMenu state={state} />
      {query.isPending && <Skeleton lines={8} />}
      {query.isError && rows.length === 0 && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isSuccess && rows.length === 0 && <NoTasks isFiltered={state !== undefined} />}
      {rows.length > 0 && (
        <LongList
          label="Batch tasks"
          rows={rows}
          rowHeight={rowHeight}
          keyOf={({ task_id }) => task_id}
          render={(task) => <TaskRow task={task} />}
          onEnd={more}
        />
      )}
    </div>
  );
}

function StateMenu({ state }: { state: TaskState | undefined }) {
  const navigate = useNavigate({ from: '/batch' });
  const options = ['', ...batchTask.states].map((value) => ({
    value,
    name: value === '' ? 'any' : words(value),
  }));
  return (
    <div className="row">
      <Menu
        label="State"
        options={options}
        value={state ?? ''}
        onChange={(value) =>
          void navigate({ search: { state: (value || undefined) as TaskState | undefined } })
        }
      />
    </div>
  );
}

/** Renders only visible rows. */
const TaskRow = memo(function TaskRow({ task }: { task: Task }) {
  const { results_ok, results_failed, invalid_urls } = task;
  const results = [
    `${count(results_ok)} done`,
    ...(results_failed > 0 ? [`${count(results_failed)} failed`] : []),
    ...(invalid_urls.length > 0 ? [`${count(invalid_urls.length)} skipped`] : []),
  ];
  return (
    <Link to="/batch/$id" params={{ id: task.task_id }} className="task-row" preload={false}>
      <span>
        <TaskBadge state={task.state} />
      </span>
      <span className="cut">{taskName(task)}</span>
      <span className="cut soft wide">{results.join(', ')}</span>
      <span className="cut soft wide">{costText(task)}</span>
      <span className="number soft">
        <Time at={task.created_at} />
      </span>
    </Link>
  );
});

function NoTasks({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty
        title="No task matches the filter"
        next={
          <Link to="/batch" search={{}} className="button">
            Show all tasks
          </Link>
        }
      />
    );
  }
  return (
    <Empty
      title="No batch tasks yet"
      next={
        <a className="button" href="/docs">
          HTTP API
        </a>
      }
    >
      Many providers charge half for work that can wait for hours: recordings, questions, texts.
      Submit a new task here, or choose the cheap lane when you add documents.
    </Empty>
  );
}
