/**
 * Pages and their addresses. They are behind a `#`, because the paths themselves, such as `/jobs`,
 * belong to the HTTP API.
 */
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { Job } from '../src/contract/schema/schema.ts';
import type { JobFilter } from './live/job-list.ts';
import type { TaskState } from './live/task-list.ts';
import { JobsPage } from './page/jobs.tsx';
import { Empty, Problem } from './part/basic.tsx';
import { Shell } from './shell.tsx';

type Given = Readonly<Record<string, unknown>>;

const text = (given: Given, name: string): string | undefined => {
  const value = given[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const root = createRootRoute({
  component: Shell,
  errorComponent: ({ error }) => (
    <main className="gate">
      <Problem error={error} onRetry={() => location.reload()} />
    </main>
  ),
  notFoundComponent: () => (
    <div className="page">
      <Empty title="Page not found">The address may be incomplete.</Empty>
    </div>
  ),
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/jobs' });
  },
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: (given: Given): JobFilter => ({
    corpus_name: text(given, 'corpus_name'),
    status: text(given, 'status') as Job['status'] | undefined,
    state: text(given, 'state') as Job['state'] | undefined,
    failed_stage: text(given, 'failed_stage') as JobFilter['failed_stage'],
  }),
  component: JobsPage,
});

export interface JobSearch {
  readonly tab?: 'items' | 'events' | 'lifecycle' | undefined;
  readonly item?: number | undefined;
}

const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$id',
  validateSearch: (given: Given): JobSearch => ({
    tab: text(given, 'tab') as JobSearch['tab'],
    item: Number(given.item) || undefined,
  }),
  component: lazyRouteComponent(() => import('./page/job.tsx'), 'JobPage'),
});

export interface SearchSearch {
  readonly corpus?: string | undefined;
  readonly q?: string | undefined;
  readonly mode?: 'hybrid' | 'vector' | 'keyword' | undefined;
  readonly source?: string | undefined;
  readonly title?: string | undefined;
  readonly explain?: boolean | undefined;
}

const search = createRoute({
  getParentRoute: () => root,
  path: '/search',
  validateSearch: (given: Given): SearchSearch => ({
    corpus: text(given, 'corpus'),
    q: text(given, 'q'),
    mode: text(given, 'mode') as SearchSearch['mode'],
    source: text(given, 'source'),
    title: text(given, 'title'),
    explain: given.explain === true || undefined,
  }),
  component: lazyRouteComponent(() => import('./page/search.tsx'), 'SearchPage'),
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: '/inbox',
  validateSearch: (given: Given): { corpus?: string | undefined } => ({
    corpus: text(given, 'corpus'),
  }),
  component: lazyRouteComponent(() => import('./page/inbox.tsx'), 'InboxPage'),
});

const add = createRoute({
  getParentRoute: () => root,
  path: '/add',
  validateSearch: (given: Given): { corpus?: string | undefined; url?: string | undefined } => ({
    corpus: text(given, 'corpus'),
    url: text(given, 'url'),
  }),
  component: lazyRouteComponent(() => import('./page/add.tsx'), 'AddPage'),
});

const corpora = createRoute({
  getParentRoute: () => root,
  path: '/corpora',
  component: lazyRouteComponent(() => import('./page/corpora.tsx'), 'CorporaPage'),
});

const corpus = createRoute({
  getParentRoute: () => root,
  path: '/corpora/$name',
  validateSearch: (given: Given): { partly_read?: boolean | undefined } => ({
    partly_read: given.partly_read === true || undefined,
  }),
  component: lazyRouteComponent(() => import('./page/corpus.tsx'), 'CorpusPage'),
});

const document = createRoute({
  getParentRoute: () => root,
  path: '/documents/$id',
  validateSearch: (given: Given): { chunk?: string | undefined } => ({
    chunk: text(given, 'chunk'),
  }),
  component: lazyRouteComponent(() => import('./page/document.tsx'), 'DocumentPage'),
});

const batch = createRoute({
  getParentRoute: () => root,
  path: '/batch',
  validateSearch: (given: Given): { state?: TaskState | undefined } => ({
    state: text(given, 'state') as TaskState | undefined,
  }),
  component: lazyRouteComponent(() => import('./page/batch.tsx'), 'BatchPage'),
});

const newBatchTask = createRoute({
  getParentRoute: () => root,
  path: '/batch/new',
  component: lazyRouteComponent(() => import('./page/batch-new.tsx'), 'NewBatchTaskPage'),
});

const batchTask = createRoute({
  getParentRoute: () => root,
  path: '/batch/$id',
  component: lazyRouteComponent(() => import('./page/batch-task.tsx'), 'BatchTaskPage'),
});

const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  component: lazyRouteComponent(() => import('./page/system.tsx'), 'SystemPage'),
});

const documents = [home, jobs, job, search, inbox, add, corpora, corpus, document] as const;
const pages = [...documents, batch, newBatchTask, batchTask, system] as const;

export function makeRouter() {
  return createRouter({
    routeTree: root.addChildren(pages),
    history: createHashHistory(),
    scrollRestoration: false,
    defaultPreload: 'intent',
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
