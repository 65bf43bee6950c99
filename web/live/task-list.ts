/** The batch tasks. A short list is read again; of a long one, only the changed rows. */
import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Client } from '../../src/client/http.ts';
import type { AnswerOf } from '../../src/contract/contract.ts';
import { untilLoaded } from './read-again.ts';

export type TaskPage = AnswerOf<'GET /batch/tasks'>;
export type Task = TaskPage['items'][number];
export type TaskState = Task['state'];
type TaskPages = InfiniteData<TaskPage, string | undefined>;

export const tasksPerPage = 100;
const pagesReadAnewMax = 2;
const tasksReadMax = 40;

export async function refreshTaskLists(
  queries: QueryClient,
  client: Client,
  moved: ReadonlySet<string>,
): Promise<void> {
  if (moved.size === 0) return;
  const lists = queries.getQueryCache().findAll({ queryKey: ['batch-tasks'], type: 'active' });
  for (const { queryKey } of lists) {
    await untilLoaded(queries, { queryKey, exact: true });
    const pages = queries.getQueryData<TaskPages>(queryKey);
    if (!pages) continue;
    if (pages.pages.length <= pagesReadAnewMax) {
      await queries.invalidateQueries({ queryKey });
      continue;
    }
    const shown = pages.pages.flatMap(({ items }) => items.map(({ task_id }) => task_id));
    const wanted = shown.filter((id) => moved.has(id)).slice(0, tasksReadMax);
    const read = wanted.map((id) => client.ask('GET /batch/tasks/:id', { params: { id } }));
    const tasks = new Map((await Promise.all(read)).map((task) => [task.task_id, task]));
    const patch = (page: TaskPage): TaskPage => ({
      ...page,
      items: page.items.map((task) => tasks.get(task.task_id) ?? task),
    });
    queries.setQueryData<TaskPages>(
      queryKey,
      (now) => now && { ...now, pages: now.pages.map(patch) },
    );
  }
}
