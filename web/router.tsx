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
} from '@tanstack/react-router';
import type { Job } from '../src/contract/schema/schema.ts';
import type { JobFilter, JobGroup } from './live/job-list.ts';
import type { TaskState } from './live/task-list.ts';
import { HomePage } from './page/home/home.tsx';
import type { SourceKind } from './page/source/source-draft.ts';
import { Empty, Problem } from './part/basic.tsx';
import { type Station, stations } from './part/pipeline.ts';
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
  component: HomePage,
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: (given: Given): JobFilter => ({
    group: text(given, 'group') as JobGroup | undefined,
    text: text(given, 'text'),
    corpus_name: text(given, 'corpus_name'),
    status: text(given, 'status') as Job['status'] | undefined,
    state: text(given, 'state') as Job['state'] | undefined,
    failed_stage: text(given, 'failed_stage') as JobFilter['failed_stage'],
  }),
  component: lazyRouteComponent(() => import('./page/jobs.tsx'), 'JobsPage'),
});

export interface JobSearch {
  readonly tab?: 'items' | 'events' | undefined;
  readonly item?: number | undefined;
  /** The station of the pipeline whose documents are listed. */
  readonly at?: Station | undefined;
}

const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$id',
  validateSearch: (given: Given): JobSearch => ({
    tab: text(given, 'tab') as JobSearch['tab'],
    item: Number(given.item) || undefined,
    at: stations.find((station) => station === given.at),
  }),
  component: lazyRouteComponent(() => import('./page/job/job.tsx'), 'JobPage'),
});

export interface SearchSearch {
  readonly corpus?: string | undefined;
  readonly q?: string | undefined;
  readonly mode?: 'hybrid' | 'vector' | 'keyword' | undefined;
  readonly source?: string | undefined;
  readonly title?: string | undefined;
  readonly host?: string | undefined;
  readonly folder?: string | undefined;
  readonly language?: string | undefined;
  /** A month, such as 2026-01. */
  readonly date?: string | undefined;
  /** A condition on metadata. */
  readonly where?: string | undefined;
  /** Also what has none of the words. */
  readonly near?: boolean | undefined;
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
    host: text(given, 'host'),
    folder: text(given, 'folder'),
    language: text(given, 'language'),
    date: text(given, 'date'),
    where: text(given, 'where'),
    near: given.near === true || undefined,
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

export interface CorpusSearch {
  readonly partly_read?: boolean | undefined;
  readonly tab?: 'about' | undefined;
}

const corpus = createRoute({
  getParentRoute: () => root,
  path: '/corpora/$name',
  validateSearch: (given: Given): CorpusSearch => ({
    partly_read: given.partly_read === true || undefined,
    tab: given.tab === 'about' ? 'about' : undefined,
  }),
  component: lazyRouteComponent(() => import('./page/corpus.tsx'), 'CorpusPage'),
});

const sources = createRoute({
  getParentRoute: () => root,
  path: '/sources',
  component: lazyRouteComponent(() => import('./page/source/sources.tsx'), 'SourcesPage'),
});

export interface NewSourceSearch {
  readonly kind?: SourceKind | undefined;
  readonly location?: string | undefined;
  readonly corpus?: string | undefined;
}

const newSource = createRoute({
  getParentRoute: () => root,
  path: '/sources/new',
  validateSearch: (given: Given): NewSourceSearch => ({
    kind: text(given, 'kind') as SourceKind | undefined,
    location: text(given, 'location'),
    corpus: text(given, 'corpus'),
  }),
  component: lazyRouteComponent(() => import('./page/source/source-form.tsx'), 'SourceFormPage'),
});

const source = createRoute({
  getParentRoute: () => root,
  path: '/sources/$name',
  validateSearch: (given: Given): { run?: number | undefined } => ({
    run: Number(given.run) || undefined,
  }),
  component: lazyRouteComponent(() => import('./page/source/source.tsx'), 'SourcePage'),
});

export interface DocumentSearch {
  /** The chosen passage. */
  readonly chunk?: string | undefined;
  /** The words to mark. */
  readonly q?: string | undefined;
  readonly tab?: 'reader' | 'chunks' | 'original' | 'history' | undefined;
}

const document = createRoute({
  getParentRoute: () => root,
  path: '/documents/$id',
  validateSearch: (given: Given): DocumentSearch => ({
    chunk: text(given, 'chunk'),
    q: text(given, 'q'),
    tab: text(given, 'tab') as DocumentSearch['tab'],
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
  component: lazyRouteComponent(() => import('./page/health/health.tsx'), 'HealthPage'),
});

const documents = [home, jobs, job, search, inbox, add, corpora, corpus, document] as const;
const followed = [sources, newSource, source] as const;
const pages = [...documents, ...followed, batch, newBatchTask, batchTask, system] as const;

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
