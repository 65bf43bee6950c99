/** An open store behind the interface that commands use. */
import type { Job, Pawl } from '../index.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { nextPage } from '../service/cursor.ts';
import { documentShape, eventShape } from '../service/view/serializer.ts';
import { getJob } from '../store/job/jobs.ts';
import type { JobClient, PawlClient } from './pawl-client.ts';

const { pageItemsMax: most } = limits.request;

export function localPawl(pawl: Pawl): PawlClient {
  return {
    ask: pawl.ask,
    work: () => pawl.work(),
    isWorkedOn: () => pawl.isWorkedOn(),
    newestEvent: () => pawl.newestEvent(),
    job: async (id) => localJob(pawl, await pawl.job(id)),
    submit: async (sources, options) => localJob(pawl, await pawl.submit(sources, options)),
    documents: async (
      name,
      { cursor: after = '', limit = most, partly_read: partlyRead = false },
    ) => {
      const rows = await pawl.documents(name, { after, limit, partlyRead });
      const items = rows.map(({ meta, ...row }) => ({ ...documentShape(row, meta), meta }));
      return { items, ...nextPage(rows, limit, ({ id }) => id) };
    },
  };
}

function localJob(pawl: Pawl, job: Job): JobClient {
  const { id, corpus, isResumed } = job;
  return {
    id,
    corpus,
    isResumed,
    detail: () => pawl.ask('GET /jobs/:id', { params: { id } }),
    counts: async () => {
      const row = await getJob(pawl.store, id);
      if (row) return row;
      throw new Failure('job_unknown', `there is no job ${id}`);
    },
    async *events({ after = 0, signal }) {
      const from = { after, ...(signal && { signal }) };
      for await (const event of job.events(from)) yield eventShape(event, id);
    },
  };
}
