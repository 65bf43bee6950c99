/** Sources that corpora follow, as calls of the contract. */
import { isFinalRun, syncRunState } from '../kernel/lifecycle/sync-run.ts';
import { checkNames } from './call/names.ts';
import type { SignalOptions } from './options.ts';
import type { Session } from './session.ts';
import type { Pawl } from './surface.ts';
import type { SyncRun } from './views.ts';

type SourceCalls =
  | ('addSource' | 'sources' | 'source' | 'updateSource' | 'removeSource')
  | ('planSource' | 'runSource' | 'pauseSource' | 'resumeSource')
  | ('sourceRuns' | 'sourceChanges' | 'applyRemovals' | 'ignoreRemovals')
  | ('removedDocuments' | 'restoreDocuments' | 'openSourceWebhook' | 'closeSourceWebhook');

export function sourcesOf(session: Session): Pick<Pawl, SourceCalls> {
  const { calls } = session;
  return {
    addSource: async ({ corpus: corpus_name, ...source }, { signal, ...none } = {}) => {
      checkNames('addSource', none, ['signal']);
      const given = { ...source, signal };
      return calls.call('POST /sources', { what: 'addSource', given, fixed: { corpus_name } });
    },
    sources: async (given = {}) =>
      (await calls.call('GET /sources', { what: 'sources', given })).items,
    source: (name, given = {}) =>
      calls.call('GET /sources/:name', { what: 'source', params: { name }, given }),
    updateSource: (name, given) =>
      calls.call('PATCH /sources/:name', { what: 'updateSource', params: { name }, given }),
    removeSource: async (name, given = {}) => {
      await calls.call('DELETE /sources/:name', { what: 'removeSource', params: { name }, given });
    },
    pauseSource: (name, given = {}) =>
      calls.call('POST /sources/:name/pause', { what: 'pauseSource', params: { name }, given }),
    resumeSource: (name, given = {}) =>
      calls.call('POST /sources/:name/resume', { what: 'resumeSource', params: { name }, given }),
    removedDocuments: async (name, given = {}) => {
      const asked = { what: 'removedDocuments', params: { name }, given };
      return (await calls.call('GET /sources/:name/removed', asked)).items;
    },
    restoreDocuments: async (name, given = {}) => {
      const asked = { what: 'restoreDocuments', params: { name }, given };
      return (await calls.call('POST /sources/:name/restore', asked)).restored;
    },
    openSourceWebhook: (name, given = {}) => {
      const asked = { what: 'openSourceWebhook', params: { name }, given };
      return calls.call('POST /sources/:name/webhook', asked);
    },
    closeSourceWebhook: (name, given = {}) => {
      const asked = { what: 'closeSourceWebhook', params: { name }, given };
      return calls.call('DELETE /sources/:name/webhook', asked);
    },
    ...runsOf(session),
  };
}

type RunCalls =
  | ('planSource' | 'runSource' | 'sourceRuns' | 'sourceChanges')
  | ('applyRemovals' | 'ignoreRemovals');

function runsOf(session: Session): Pick<Pawl, RunCalls> {
  const { calls } = session;
  const begin = async (what: string, name: string, given: SignalOptions, plan: boolean) => {
    const asked = { what, params: { name }, given, fixed: { plan, cause: 'request' } };
    const run = await calls.call('POST /sources/:name/run', asked);
    return untilEnded(session, run, given.signal);
  };
  return {
    planSource: (name, given = {}) => begin('planSource', name, given, true),
    runSource: (name, given = {}) => begin('runSource', name, given, false),
    applyRemovals: async (name, given = {}) => {
      const asked = { what: 'applyRemovals', params: { name }, given };
      const run = await calls.call('POST /sources/:name/apply', asked);
      return untilEnded(session, run, given.signal);
    },
    ignoreRemovals: async (name, given = {}) => {
      const asked = { what: 'ignoreRemovals', params: { name }, given };
      const run = await calls.call('POST /sources/:name/ignore', asked);
      return untilEnded(session, run, given.signal);
    },
    sourceRuns: (name, given = {}) =>
      calls.list('GET /sources/:name/runs', { what: 'sourceRuns', params: { name }, given }),
    sourceChanges: (name, runId, given = {}) => {
      const params = { name, run: String(runId) };
      return calls.list('GET /sources/:name/runs/:run/changes', {
        what: 'sourceChanges',
        params,
        given,
      });
    },
  };
}

async function untilEnded(
  { calls, events, ask }: Session,
  { source: name, runId }: SyncRun,
  signal: AbortSignal | undefined,
): Promise<SyncRun> {
  const params = { name, run: String(runId) };
  await events.until(async () => {
    const { state } = await ask('GET /sources/:name/runs/:run', { params });
    return isFinalRun(state) || state === syncRunState.held;
  }, signal);
  return calls.call('GET /sources/:name/runs/:run', { what: 'run', params, given: { signal } });
}
