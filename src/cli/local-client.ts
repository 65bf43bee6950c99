/** An open store behind the interface that commands use. */
import type { Pawl } from '../index.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { type Session, type SubmittedJob, sessionOf } from '../library/internal.ts';
import { nextPage } from '../service/cursor.ts';
import { documentShape } from '../service/view/serializer.ts';
import { getJob } from '../store/job/jobs.ts';
import type { JobClient, PawlClient } from './pawl-client.ts';

const { pageItemsMax: most } = limits.request;

export function localPawl(pawl: Pawl): PawlClient {
  const session = sessionOf(pawl);
  return {
    ask: session.ask,
    work: () => session.work(),
    isWorkedOn: () => session.isWorkedOn(),
    newestEvent: () => session.newestEvent(),
    job: async (id) => localJob(session, { row: await session.findJob(id), isResumed: false }),
    submit: async (sources, options) => localJob(session, await session.submit(sources, options)),
    documents: async (
      name,
      { cursor: after = '', limit = most, partly_read: partlyRead = false },
    ) => {
      const rows = await session.documents(name, { after, limit, partlyRead });
      const items = rows.map(({ meta, ...row }) => ({ ...documentShape(row, meta), meta }));
      return { items, ...nextPage(rows, limit, ({ id }) => id) };
    },
  };
}

function localJob(session: Session, { row, isResumed }: SubmittedJob): JobClient {
  const { key: id, corpus } = row;
  return {
    id,
    corpus,
    isResumed,
    detail: () => session.ask('GET /jobs/:id', { params: { id } }),
    counts: async () => {
      const counted = await getJob(session.store, id);
      if (counted) return counted;
      throw new Failure('job_unknown', `there is no job ${id}`);
    },
    events: (from) => session.events.ofJob(row, from),
  };
}
