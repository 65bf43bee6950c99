/** The public object, as calls of the contract on an open session. */
import type * as schema from '../contract/operation/batch.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { whileRead } from './answer-events.ts';
import { camelize } from './call/camel.ts';
import { listOf } from './call/list.ts';
import { checkNames, checkObject } from './call/names.ts';
import { eventsIn } from './event-views.ts';
import { checkedSources } from './ingest.ts';
import { jobHandle } from './job-handle.ts';
import type { SignalOptions } from './options.ts';
import type { Session } from './session.ts';
import { sourcesOf } from './sources.ts';
import type { Pawl } from './surface.ts';
import type { BatchTask } from './views.ts';

type Part<Names extends keyof Pawl> = Pick<Pawl, Names>;

export function makePawl(session: Session): Pawl {
  const close = (): Promise<void> => session.close();
  return {
    ...ingesting(session),
    ...searching(session),
    ...asking(session),
    ...inboxOf(session),
    ...corporaOf(session),
    ...documentsOf(session),
    ...batchTasksOf(session),
    ...sourcesOf(session),
    work: () => session.lifetime.run(() => session.work()),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function ingesting(
  session: Session,
): Part<'ingest' | 'estimate' | 'job' | 'jobs' | 'events' | 'newestEvent'> {
  const { calls, lifetime } = session;
  return {
    ingest: async (inputs, options) => {
      const sources = await checkedSources(session, 'ingest', inputs, options);
      // From here on the signal is ignored: the caller must learn of a job that was accepted.
      const { row, isResumed } = await lifetime.run(() => session.submit(sources, options));
      return jobHandle(session, row, isResumed);
    },
    estimate: async (inputs, options) => {
      const sources = await checkedSources(session, 'estimate', inputs, options);
      return lifetime.run(() => session.estimate(sources, options), options.signal);
    },
    job: async (id, options = {}) => {
      checkNames('job', options, ['signal']);
      return jobHandle(session, await lifetime.run(() => session.findJob(id), options.signal));
    },
    jobs: (given = {}) => calls.list('GET /jobs', { what: 'jobs', given }),
    events: (options = {}) => eventsIn('events', options, () => session.events.all(options)),
    newestEvent: async (options = {}) => {
      checkNames('newestEvent', options, ['signal']);
      return lifetime.run(() => session.newestEvent(), options.signal);
    },
  };
}

function asking(session: Session): Part<'ask' | 'askStream'> {
  const askStream: Pawl['askStream'] = async function* (corpus_name, question, given = {}) {
    const { calls, lifetime } = session;
    lifetime.check();
    const { signal } = checkObject('ask', given) as { signal?: AbortSignal };
    const { AnswerPassages, AnswerSentence, Answer, Question } = await import(
      '../contract/schema/answer.ts'
    );
    const fixed = { corpus_name, question, stream: undefined };
    const asked = { what: 'ask', given, fixed, own: ['signal'] };
    const body = (await calls.read(Question, asked)) as Parameters<Session['answer']>[0];
    const open = (leaving: AbortSignal) => session.answer(body, leaving);
    for await (const { event, data } of whileRead(lifetime, signal, open)) {
      if (event === 'passages') yield { kind: event, ...camelize(AnswerPassages, data) };
      else if (event === 'sentence') {
        yield { kind: event, sentence: camelize(AnswerSentence, data) };
      } else yield { kind: event, answer: camelize(Answer, data) };
    }
  };
  return {
    askStream,
    ask: async (...asked) => {
      for await (const event of askStream(...asked)) {
        if (event.kind === 'done') return event.answer;
      }
      throw new Failure('internal_error', 'the answer has no end');
    },
  };
}

function searching({ calls }: Session): Part<'search' | 'searchResponse' | 'why'> {
  const searchResponse: Pawl['searchResponse'] = (corpus_name, query, given = {}) =>
    calls.call('POST /search', { what: 'search', given, fixed: { corpus_name, query } });
  return {
    searchResponse,
    search: async (...asked) => (await searchResponse(...asked)).results,
    why: (corpus_name, url, given = {}) =>
      calls.call('GET /why', { what: 'why', given, fixed: { corpus_name, url } }),
  };
}

function inboxOf({
  calls,
}: Session): Part<'inbox' | 'causes' | 'item' | 'retryItems' | 'discardItems'> {
  return {
    inbox: (given = {}) => calls.list('GET /inbox', { what: 'inbox', given }),
    causes: async (given = {}) => {
      const fixed = { cause: undefined, limit: 1, cursor: undefined };
      return (await calls.call('GET /inbox', { what: 'causes', given, fixed })).causes;
    },
    item: (id, given = {}) =>
      calls.call('GET /items/:id', { what: 'item', params: { id: String(id) }, given }),
    retryItems: async (chosen, { signal, ...none } = {}) => {
      checkNames('retryItems', none, ['signal']);
      const given = { ...chosen, signal };
      return (await calls.call('POST /inbox/retry', { what: 'retryItems', given })).retried;
    },
    discardItems: async (chosen, { signal, ...none } = {}) => {
      checkNames('discardItems', none, ['signal']);
      const given = { ...chosen, signal };
      return (await calls.call('POST /inbox/discard', { what: 'discardItems', given })).discarded;
    },
  };
}

type CorpusCalls =
  | ('corpora' | 'corpus' | 'deleteCorpus' | 'setCorpusBudget' | 'reembed' | 'rechunk')
  | ('origins' | 'acceptOrigins' | 'shares' | 'share' | 'unshare');

function corporaOf(session: Session): Part<CorpusCalls> {
  const { calls, lifetime } = session;
  return {
    corpora: (given = {}) => calls.list('GET /corpora', { what: 'corpora', given }),
    corpus: (name, given = {}) =>
      calls.call('GET /corpora/:name', { what: 'corpus', params: { name }, given }),
    deleteCorpus: async (name, given = {}) => {
      const asked = { what: 'deleteCorpus', params: { name }, given };
      return (await calls.call('DELETE /corpora/:name', asked)).deleted;
    },
    setCorpusBudget: (name, budget_cents, given = {}) =>
      calls.call('POST /corpora/:name/budget', {
        what: 'setCorpusBudget',
        params: { name },
        given,
        fixed: { budget_cents },
      }),
    reembed: async (name, given = {}) => {
      const asked = { what: 'reembed', params: { name }, given };
      const { jobId } = await calls.call('POST /corpora/:name/reembed', asked);
      if (jobId === null) return undefined;
      return jobHandle(session, await lifetime.run(() => session.findJob(jobId)));
    },
    rechunk: async (name, given = {}) => {
      const asked = { what: 'rechunk', params: { name }, given };
      const { jobId } = await calls.call('POST /corpora/:name/chunking', asked);
      if (jobId === null) return undefined;
      return jobHandle(session, await lifetime.run(() => session.findJob(jobId)));
    },
    origins: (name, given = {}) =>
      calls.call('GET /corpora/:name/origins', { what: 'origins', params: { name }, given }),
    acceptOrigins: (name, given = {}) =>
      calls.call('POST /corpora/:name/origins', { what: 'acceptOrigins', params: { name }, given }),
    shares: async (name, given = {}) => {
      const asked = { what: 'shares', params: { name }, given };
      return (await calls.call('GET /corpora/:name/shares', asked)).items;
    },
    share: (name, caller, { access = 'read', ...given } = {}) =>
      calls.call('PUT /corpora/:name/shares/:caller', {
        what: 'share',
        params: { name, caller },
        given: { access, ...given },
      }),
    unshare: async (name, caller, given = {}) => {
      const asked = { what: 'unshare', params: { name, caller }, given };
      return (await calls.call('DELETE /corpora/:name/shares/:caller', asked)).removed;
    },
  };
}

type DocumentCalls =
  | ('documents' | 'document' | 'deleteDocument' | 'deleteDocuments' | 'chunks')
  | ('entities' | 'related' | 'documentEntities');

function documentsOf({ calls }: Session): Part<DocumentCalls> {
  const whole = { pageMax: limits.request.entitiesMax, isWhole: true };
  return {
    documents: (name, given = {}) =>
      calls.list('GET /corpora/:name/documents', { what: 'documents', params: { name }, given }),
    document: (id, given = {}) =>
      calls.call('GET /documents/:id', { what: 'document', params: { id }, given }),
    deleteDocument: async (id, given = {}) => {
      await calls.call('DELETE /documents/:id', { what: 'deleteDocument', params: { id }, given });
    },
    deleteDocuments: async (name, ids, given = {}) => {
      const fixed = { document_ids: ids };
      const asked = { what: 'deleteDocuments', params: { name }, given, fixed };
      return (await calls.call('POST /corpora/:name/documents/delete', asked)).deleted;
    },
    chunks: (id, given = {}) =>
      calls.list('GET /documents/:id/chunks', { what: 'chunks', params: { id }, given }),
    entities: (name, given = {}) => {
      const asked = { what: 'entities', params: { name }, given };
      return calls.list('GET /corpora/:name/entities', asked, whole);
    },
    related: (name, entity, given = {}) => {
      const asked = { what: 'related', params: { name, entity }, given };
      return calls.list('GET /corpora/:name/entities/:entity', asked, whole);
    },
    documentEntities: (id, given = {}) => {
      const asked = { what: 'documentEntities', params: { id }, given };
      return calls.list('GET /documents/:id/entities', asked, whole);
    },
  };
}

type BatchCalls =
  | ('submitBatchTask' | 'batchTasks' | 'batchTask' | 'batchOutput')
  | 'cancelBatchTask';

function batchTasksOf({ batch, calls, lifetime }: Session): Part<BatchCalls> {
  const one = async (
    what: string,
    options: SignalOptions,
    ask: () => Promise<schema.BatchTask>,
  ): Promise<BatchTask> => {
    checkNames(what, options, ['signal']);
    const [{ BatchTask: described }, task] = await Promise.all([
      import('../contract/operation/batch.ts'),
      lifetime.run(ask, options.signal),
    ]);
    return camelize(described, task);
  };
  return {
    submitBatchTask: async (given, options = {}) => {
      const { NewBatchTask: described } = await import('../contract/operation/batch.ts');
      const body = await calls.read(described, { what: 'submitBatchTask', given });
      return one('submitBatchTask', options, () => batch.submit(body));
    },
    batchTasks: ({ limit, signal, ...given } = {}) =>
      listOf(
        async (page, aborting) => {
          const { batch: routes } = await import('../contract/operation/batch.ts');
          const { query, answer } = routes['GET /batch/tasks'];
          const own = ['limit', 'signal'];
          const asked = await calls.read(query, {
            what: 'batchTasks',
            given,
            fixed: { ...page },
            own,
          });
          return camelize(answer, await lifetime.run(() => batch.list(asked), aborting));
        },
        { limit, signal },
      ),
    batchTask: (id, options = {}) => one('batchTask', options, () => batch.show(id)),
    batchOutput: async (id, options = {}) => {
      checkNames('batchOutput', options, ['signal']);
      return piecesOf(await lifetime.run(() => batch.output(id), options.signal));
    },
    cancelBatchTask: (id, options = {}) => one('cancelBatchTask', options, () => batch.cancel(id)),
  };
}

async function* piecesOf(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
