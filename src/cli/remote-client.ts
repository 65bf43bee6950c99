/** A remote service behind the interface that commands use. */
import { openAsBlob } from 'node:fs';
import { relative } from 'node:path';
import { Client, type ClientOptions } from '../client/http.ts';
import type { BodyOf } from '../contract/contract.ts';
import type { Job, JobDetail } from '../contract/schema/schema.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { jobEnds } from '../observe/event.ts';
import { pathOfSource } from '../pipeline/fetch/file-path.ts';
import { sidecarName } from '../source/sidecar.ts';
import type { NewSource } from '../store/job/submit.ts';
import type { JobClient, PawlClient } from './pawl-client.ts';

export function remotePawl(options: ClientOptions): PawlClient {
  const client = new Client(options);
  return {
    ask: (name, ...asking) => client.ask(name, ...asking),
    answer: (body, signal) => client.answer(body, signal),
    work: async () => undefined,
    isWorkedOn: async () => true,
    newestEvent: async () => (await client.ask('GET /events', { query: { limit: 1 } })).newest_seq,
    job: async (id) => remoteJob(client, await findJob(client, id)),
    submit: async (sources, options_) => {
      const { job_id } = await submit(client, sources, options_);
      return remoteJob(client, { job_id, corpus_name: options_.corpus });
    },
  };
}

function remoteJob(
  client: Client,
  { job_id: id, corpus_name: corpus }: Pick<Job, 'job_id' | 'corpus_name'>,
): JobClient {
  const detail = () => client.ask('GET /jobs/:id', { params: { id } });
  let counted: { readonly counts: Promise<JobDetail>; readonly at: number } | undefined;
  return {
    id,
    corpus,
    isResumed: false,
    detail,
    counts: () => {
      if (counted === undefined || performance.now() - counted.at > countAgeMsMax) {
        counted = { counts: detail(), at: performance.now() };
      }
      return counted.counts;
    },
    async *events({ after = 0, signal }) {
      for await (const event of client.follow({ jobId: id, after, signal })) {
        if (jobEnds.has(event.kind)) counted = undefined;
        yield event;
      }
    },
  };
}

/** Progress is redrawn ten times per second. Not every redraw needs a request. */
const countAgeMsMax = 1000;

/** Finds a job by its id, or among the newest by a prefix of it. */
async function findJob(client: Client, id: string): Promise<Job> {
  if (id.length === 36) return client.ask('GET /jobs/:id', { params: { id } });
  const query = { limit: limits.request.pageItemsMax };
  const { items } = await client.ask('GET /jobs', { query });
  const [job, other] = items.filter(({ job_id }) => job_id.startsWith(id));
  if (job && !other) return job;
  const message = job ? `more than one job begins with ${id}` : `there is no job ${id}`;
  throw new Failure('job_unknown', message);
}

type SubmitOptions = Parameters<PawlClient['submit']>[1];

async function submit(client: Client, sources: readonly NewSource[], options: SubmitOptions) {
  const { corpus: corpus_name, force, priority, lane, crawl } = options;
  const chosen = {
    corpus_name,
    force,
    priority,
    lane,
    budget_cents: options.budgetCents,
    max_wall_seconds: options.maxWallSeconds,
    metadata: options.metadata,
  };
  const kinds = new Set(sources.map(({ kind }) => kind));
  if (kinds.size > 1) {
    const message =
      'a job on a service takes either files, addresses or text: submit them separately';
    throw new Failure('usage_error', message);
  }
  if (kinds.has('file')) {
    const files = [];
    for (const { source, metadata } of sources) {
      const name = relative(process.cwd(), source);
      files.push({ name, blob: await openAsBlob(pathOfSource(source)) });
      if (metadata) {
        files.push({ name: sidecarName(name), blob: new Blob([JSON.stringify(metadata)]) });
      }
    }
    return client.upload({ ...chosen, files });
  }
  return client.ask('POST /jobs', { body: { ...chosen, ...whatOf(sources, crawl) } });
}

function whatOf(
  sources: readonly NewSource[],
  crawl: SubmitOptions['crawl'],
): Partial<BodyOf<'POST /jobs'>> {
  const urls = sources.filter(({ kind }) => kind === 'url').map(({ source }) => source);
  if (crawl) {
    const [url = ''] = urls;
    const { depth, limit, include, exclude } = crawl;
    const globs = { include: include && [...include], exclude: exclude && [...exclude] };
    return { crawl: { url, depth, limit, ...globs } };
  }
  if (urls.length > 0) return { urls };
  const documents = sources.map(({ source, input, metadata }) => ({
    id: source.replace(/^inline:/, ''),
    ...(input?.title && { title: input.title }),
    [input?.kind ?? 'text']: input?.body ?? '',
    ...(metadata && { metadata }),
  }));
  return { documents };
}
