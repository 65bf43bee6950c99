/** A batch provider of your own: with `open({ batchAdapters: [summarizer()] })`, tasks use it. */
import type { BatchProvider } from 'pawl';

export function summarizer(): BatchProvider {
  const jobs = new Map<string, readonly string[]>();
  const results = async function* (sources: readonly string[] = []) {
    for (const id of sources) yield { id, isOk: true, value: { summary: `short: ${id}` } } as const;
  };
  return {
    ...{ name: 'ACME', taskTypes: ['summary'], recognizedBy: 'token' },
    ...{ split: 'together', merge: 'flat', cancel: async () => false },
    find: async ({ token: id }) => (jobs.has(id) ? id : undefined),
    submit: async ({ token, sources }) => jobs.set(token, sources) && token,
    poll: async ({ externalId: id }) =>
      jobs.has(id) ? { said: 'completed', results: () => results(jobs.get(id)) } : { said: 'gone' },
  };
}
