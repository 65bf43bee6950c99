/** A change that arrives while a page loads for the first time: its response may be older. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import type { Client } from '../../src/client/http.ts';
import { noChanges } from './change.ts';
import { refreshItemLists } from './item-list.ts';
import { refreshJobLists } from './job-list.ts';
import { readAgain } from './read-again.ts';
import { refreshTaskLists } from './task-list.ts';

/** A service whose first response is read before a change, and arrives after it. */
function openService() {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let [state, reads] = ['running', 0];
  const read = async (): Promise<string> => {
    const seen = state;
    reads += 1;
    if (reads === 1) await held;
    return seen;
  };
  const change = (): void => {
    state = 'done';
  };
  return { read, release, change, reads: () => reads };
}

function openQueries(t: TestContext): QueryClient {
  const queries = new QueryClient();
  t.after(() => queries.clear());
  return queries;
}

/** Shows a list, whose rows have one field that changes. */
function showList(t: TestContext, queryKey: readonly unknown[], row: (state: string) => object) {
  const [queries, service] = [openQueries(t), openService()];
  const observer = new InfiniteQueryObserver(queries, {
    queryKey,
    initialPageParam: undefined,
    queryFn: async () => ({ items: [row(await service.read())], next_cursor: null }),
    getNextPageParam: () => undefined,
  });
  t.after(observer.subscribe(() => undefined));
  const client = { ask: async () => row('done') } as unknown as Client;
  const shown = () => observer.getCurrentResult().data?.pages.flatMap(({ items }) => items);
  return { queries, client, ...service, shown };
}

describe('a change during the first load', () => {
  test('is read after the load', async (t) => {
    const [queries, service] = [openQueries(t), openService()];
    const observer = new QueryObserver(queries, { queryKey: ['job', '1'], queryFn: service.read });
    t.after(observer.subscribe(() => undefined));
    service.change();
    const reading = readAgain(queries, { queryKey: ['job', '1'] });
    service.release();
    await reading;
    assert.equal(observer.getCurrentResult().data, 'done');
    assert.equal(service.reads(), 2);
  });

  test('is shown in a list of jobs', async (t) => {
    const list = showList(t, ['jobs', {}], (state) => ({ job_id: '1', state, created_at: '1' }));
    list.change();
    const changes = { ...noChanges(), jobs: new Set(['1']) };
    const refreshing = refreshJobLists(list.queries, list.client, changes);
    list.release();
    await refreshing;
    assert.deepEqual(list.shown(), [{ job_id: '1', state: 'done', created_at: '1' }]);
  });

  test('is shown in the documents of a job', async (t) => {
    const list = showList(t, ['items', '1', 'all'], (step) => ({ item_id: 1, step }));
    list.change();
    const refreshing = refreshItemLists(
      { queries: list.queries, client: list.client, later: () => undefined },
      { ...noChanges(), jobs: new Set(['1']) },
    );
    list.release();
    await refreshing;
    assert.deepEqual(list.shown(), [{ item_id: 1, step: 'done' }]);
  });

  test('is shown in a list of batch tasks', async (t) => {
    const list = showList(t, ['batch-tasks'], (state) => ({ task_id: '1', state }));
    list.change();
    const refreshing = refreshTaskLists(list.queries, list.client, new Set(['1']));
    list.release();
    await refreshing;
    assert.deepEqual(list.shown(), [{ task_id: '1', state: 'done' }]);
  });
});

test('a load that has data is not waited for, but canceled', async (t) => {
  const [queries, service] = [openQueries(t), openService()];
  const observer = new QueryObserver(queries, {
    queryKey: ['job', '1'],
    queryFn: service.read,
    initialData: 'queued',
  });
  t.after(observer.subscribe(() => undefined));
  service.change();
  await readAgain(queries, { queryKey: ['job', '1'] });
  assert.equal(observer.getCurrentResult().data, 'done');
});
