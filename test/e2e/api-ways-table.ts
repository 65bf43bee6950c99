/** Operations that are called in four ways: what each way needs, or why it does not have it. */
import type { RouteName } from '../../src/contract/contract.ts';
import type { ToolName } from '../../src/mcp/tools.ts';

/** Something to ask about. */
export interface Scene {
  readonly corpus: string;
  readonly jobId: string;
  /** A job that nobody works on. */
  readonly queuedId: string;
  readonly documentId: string;
  readonly failedItem: string;
  readonly taskId: string;
  /** The file of a batch task. */
  readonly taskFile: string;
}

export interface Operation {
  readonly route: RouteName;
  readonly asking?: (scene: Scene) => {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string | number>>;
    readonly body?: unknown;
  };
  /** The arguments of the command, or why there is none. */
  readonly cli: string | ((scene: Scene) => readonly string[]);
  /** The tool and its arguments, or why there is none. */
  readonly mcp: string | readonly [ToolName, (scene: Scene) => Record<string, unknown>];
  /** The command prints one line for each entry of the list. */
  readonly isLines?: boolean;
}

const noCommand = 'no command';
const noTool = 'not for language models';
const follows = 'the command follows the job, and prints its events';
const byJob = ({ jobId: id }: Scene) => ({ params: { id } });
const byQueued = ({ queuedId: id }: Scene) => ({ params: { id } });
const byDocument = ({ documentId: id }: Scene) => ({ params: { id } });
const byCorpus = ({ corpus: name }: Scene) => ({ params: { name } });
const search = ({ corpus: corpus_name }: Scene) => ({ corpus_name, query: 'heron', top_k: 3 });
const why = ({ corpus: corpus_name }: Scene) => ({
  corpus_name,
  url: 'inline:note',
  query: 'weir',
});
const taskBody = {
  task_type: 'completion',
  models: ['gpt-4o-mini'],
  requests: [{ custom_id: 'one', input: 'Where?' }],
};

/**
 * They change nothing, so all ways see the same. `GET /system/history` is not here: it is about one
 * serving process, and only that process answers it.
 */
export const reads: readonly Operation[] = [
  {
    route: 'GET /jobs',
    asking: ({ corpus: corpus_name }) => ({ query: { corpus_name } }),
    cli: ({ corpus }) => ['jobs', 'list', '--corpus', corpus],
    mcp: ['list_jobs', ({ corpus: corpus_name }) => ({ corpus_name })],
  },
  {
    route: 'GET /jobs/:id',
    asking: byJob,
    cli: ({ jobId }) => ['jobs', 'show', jobId],
    mcp: ['job_status', ({ jobId: job_id }) => ({ job_id })],
  },
  { route: 'GET /jobs/:id/items', asking: byJob, cli: noCommand, mcp: noTool },
  {
    route: 'GET /jobs/:id/events',
    asking: byJob,
    cli: ({ jobId }) => ['jobs', 'events', jobId],
    mcp: noTool,
    isLines: true,
  },
  { route: 'GET /jobs/:id/deliveries', asking: byJob, cli: noCommand, mcp: noTool },
  {
    route: 'GET /items/:id',
    asking: ({ failedItem: id }) => ({ params: { id } }),
    cli: ({ failedItem }) => ['inbox', 'show', failedItem],
    mcp: noTool,
  },
  {
    route: 'GET /items/:id/events',
    asking: ({ failedItem: id }) => ({ params: { id } }),
    cli: noCommand,
    mcp: noTool,
  },
  {
    route: 'GET /inbox',
    asking: ({ corpus: corpus_name }) => ({ query: { corpus_name } }),
    cli: ({ corpus }) => ['inbox', 'list', '--corpus', corpus],
    mcp: ['list_failures', ({ corpus: corpus_name }) => ({ corpus_name })],
  },
  { route: 'GET /sources', cli: () => ['sync', 'list'], mcp: ['list_sources', () => ({})] },
  { route: 'GET /corpora', cli: () => ['corpora', 'list'], mcp: ['list_corpora', () => ({})] },
  {
    route: 'GET /corpora/:name',
    asking: byCorpus,
    cli: ({ corpus }) => ['corpora', 'show', corpus],
    mcp: ['get_corpus', ({ corpus: corpus_name }) => ({ corpus_name })],
  },
  {
    route: 'GET /corpora/:name/documents',
    asking: byCorpus,
    cli: ({ corpus }) => ['corpora', 'documents', corpus],
    mcp: ['list_documents', ({ corpus: corpus_name }) => ({ corpus_name })],
    isLines: true,
  },
  {
    route: 'GET /corpora/:name/entities',
    asking: byCorpus,
    cli: ({ corpus }) => ['corpora', 'entities', corpus],
    mcp: noTool,
  },
  {
    route: 'GET /corpora/:name/entities/:entity',
    asking: ({ corpus: name }) => ({ params: { name, entity: 'Ada Lovelace' } }),
    cli: ({ corpus }) => ['corpora', 'entities', corpus, '--with', 'Ada Lovelace'],
    mcp: noTool,
  },
  {
    route: 'GET /corpora/:name/origins',
    asking: byCorpus,
    cli: ({ corpus }) => ['corpora', 'origins', corpus],
    mcp: noTool,
  },
  { route: 'GET /corpora/:name/shares', asking: byCorpus, cli: noCommand, mcp: noTool },
  {
    route: 'GET /documents/:id',
    asking: byDocument,
    cli: noCommand,
    mcp: ['get_document', ({ documentId: document_id }) => ({ document_id })],
  },
  {
    route: 'GET /documents/:id/chunks',
    asking: byDocument,
    cli: noCommand,
    mcp: ['read_document', ({ documentId: document_id }) => ({ document_id })],
  },
  { route: 'GET /documents/:id/outline', asking: byDocument, cli: noCommand, mcp: noTool },
  {
    route: 'GET /documents/:id/entities',
    asking: byDocument,
    cli: ({ corpus, documentId }) => ['corpora', 'entities', corpus, '--document', documentId],
    mcp: noTool,
  },
  { route: 'GET /documents/:id/items', asking: byDocument, cli: noCommand, mcp: noTool },
  {
    route: 'POST /search',
    asking: (scene) => ({ body: search(scene) }),
    cli: ({ corpus }) => ['search', corpus, 'heron', '--top-k', '3'],
    mcp: ['search', search],
  },
  {
    route: 'GET /why',
    asking: (scene) => ({ query: why(scene) }),
    cli: ({ corpus }) => ['why', 'inline:note', '--corpus', corpus, '--query', 'weir'],
    mcp: ['why', why],
  },
  { route: 'GET /batch/providers', cli: noCommand, mcp: noTool },
  { route: 'GET /batch/tasks', cli: () => ['batch', 'list'], mcp: noTool },
  {
    route: 'GET /batch/tasks/:id',
    asking: ({ taskId: id }) => ({ params: { id } }),
    cli: ({ taskId }) => ['batch', 'show', taskId],
    mcp: noTool,
  },
  { route: 'GET /system', cli: noCommand, mcp: noTool },
];

/** Each way changes its own corpus, in this order. */
export const changes: readonly Operation[] = [
  {
    route: 'POST /jobs',
    asking: ({ corpus: corpus_name }) => ({
      body: { corpus_name, documents: [{ id: 'more', text: 'A kingfisher dives.' }] },
    }),
    cli: follows,
    mcp: [
      'ingest',
      ({ corpus: corpus_name }) => ({
        corpus_name,
        documents: [{ id: 'more', text: 'A kingfisher dives.' }],
      }),
    ],
  },
  {
    route: 'POST /jobs/:id/pause',
    asking: byQueued,
    cli: ({ queuedId }) => ['jobs', 'pause', queuedId],
    mcp: noTool,
  },
  {
    route: 'POST /jobs/:id/resume',
    asking: (scene) => ({ ...byQueued(scene), body: {} }),
    cli: follows,
    mcp: noTool,
  },
  {
    route: 'POST /jobs/:id/cancel',
    asking: byQueued,
    cli: ({ queuedId }) => ['jobs', 'cancel', queuedId],
    mcp: ['cancel_job', ({ queuedId: job_id }) => ({ job_id })],
  },
  {
    route: 'POST /jobs/:id/retry',
    asking: byQueued,
    cli: follows,
    mcp: ['retry_job', ({ queuedId: job_id }) => ({ job_id })],
  },
  {
    route: 'POST /inbox/discard',
    asking: ({ failedItem }) => ({ body: { item_ids: [Number(failedItem)] } }),
    cli: ({ failedItem }) => ['inbox', 'discard', failedItem, '--yes'],
    mcp: noTool,
  },
  {
    route: 'POST /corpora/:name/budget',
    asking: (scene) => ({ ...byCorpus(scene), body: { budget_cents: null } }),
    cli: ({ corpus }) => ['corpora', 'budget', corpus],
    mcp: noTool,
  },
  {
    route: 'POST /corpora/:name/chunking',
    asking: (scene) => ({ ...byCorpus(scene), body: { chunk_tokens: 256 } }),
    cli: ({ corpus }) => ['corpora', 'chunking', corpus, '--tokens', '256'],
    mcp: noTool,
  },
  {
    route: 'POST /corpora/:name/origins',
    asking: byCorpus,
    cli: ({ corpus }) => ['corpora', 'origins', corpus, '--accept'],
    mcp: noTool,
  },
  {
    route: 'PUT /corpora/:name/shares/:caller',
    asking: ({ corpus: name }) => ({
      params: { name, caller: 'acct_carol' },
      body: { access: 'read' },
    }),
    cli: ({ corpus }) => ['corpora', 'share', corpus, 'acct_carol'],
    mcp: noTool,
  },
  {
    route: 'DELETE /corpora/:name/shares/:caller',
    asking: ({ corpus: name }) => ({ params: { name, caller: 'acct_carol' } }),
    cli: ({ corpus }) => ['corpora', 'unshare', corpus, 'acct_carol'],
    mcp: noTool,
  },
  {
    route: 'POST /corpora/:name/documents/delete',
    asking: (scene) => ({ ...byCorpus(scene), body: { document_ids: ['none'] } }),
    cli: 'the command names what it deleted',
    mcp: noTool,
  },
  { route: 'DELETE /documents/:id', asking: byDocument, cli: noCommand, mcp: noTool },
  {
    route: 'POST /batch/tasks',
    asking: () => ({ body: taskBody }),
    cli: ({ taskFile }) => ['batch', 'submit', taskFile],
    mcp: noTool,
  },
  {
    route: 'POST /batch/tasks/:id/cancel',
    asking: ({ taskId: id }) => ({ params: { id } }),
    cli: ({ taskId }) => ['batch', 'cancel', taskId],
    mcp: noTool,
  },
];

/** The refusals are the same as well. */
export const refusals: readonly Operation[] = [
  {
    route: 'GET /jobs/:id',
    asking: () => ({ params: { id: 'none' } }),
    cli: () => ['jobs', 'show', 'none'],
    mcp: ['job_status', () => ({ job_id: 'none' })],
  },
  {
    // No model is configured.
    route: 'POST /ask',
    asking: ({ corpus }) => ({ body: { corpus_name: corpus, question: 'heron' } }),
    cli: ({ corpus }) => ['ask', corpus, 'heron'],
    mcp: ['ask', ({ corpus: corpus_name }) => ({ corpus_name, question: 'heron' })],
  },
  {
    route: 'POST /search',
    asking: () => ({ body: { corpus_name: 'none', query: 'heron' } }),
    cli: () => ['search', 'none', 'heron'],
    mcp: ['search', () => ({ corpus_name: 'none', query: 'heron' })],
  },
  {
    route: 'POST /search',
    asking: ({ corpus }) => ({ body: { corpus_name: corpus, query: 'heron', top_k: 1000 } }),
    cli: 'the command checks its flags itself',
    mcp: ['search', ({ corpus: corpus_name }) => ({ corpus_name, query: 'heron', top_k: 1000 })],
  },
  {
    route: 'POST /jobs',
    asking: ({ corpus: corpus_name }) => ({ body: { corpus_name } }),
    cli: 'the command checks its arguments itself',
    mcp: ['ingest', ({ corpus: corpus_name }) => ({ corpus_name })],
  },
];
