/** An open store behind the interface that commands use. */
import type { Pawl } from '../index.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { type Session, type SubmittedJob, sessionOf } from '../library/internal.ts';
import { getJob } from '../store/job/jobs.ts';
import type { JobClient, PawlClient } from './pawl-client.ts';

export function localPawl(pawl: Pawl): PawlClient {
  const session = sessionOf(pawl);
  return {
    ask: session.ask,
    answer: session.answer,
    work: () => session.work(),
    isWorkedOn: () => session.isWorkedOn(),
    newestEvent: () => session.newestEvent(),
    job: async (id) => localJob(session, { row: await session.findJob(id), isResumed: false }),
    submit: async (sources, options) => localJob(session, await session.submit(sources, options)),
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
