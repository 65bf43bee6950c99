/** Retries many jobs at once: those that were chosen in the list. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Job } from '../../../src/contract/schema/schema.ts';
import { counted } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';

export interface ChosenJobs {
  readonly all: readonly Job[];
  readonly chosen: readonly Job[];
  readonly isChosen: (job: Job) => boolean;
  readonly choose: (job: Job) => void;
  readonly chooseAll: (isWanted: boolean) => void;
}

/** What would let a job continue; undefined while nothing has to be done. */
export function moveOf({ actions }: Job): 'retry' | 'resume' | undefined {
  return (['resume', 'retry'] as const).find((action) => actions.includes(action));
}

export function useChosenJobs(rows: readonly Job[]): ChosenJobs {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const all = rows.filter((job) => moveOf(job) !== undefined);
  return {
    all,
    chosen: all.filter(({ job_id }) => ids.has(job_id)),
    isChosen: ({ job_id }) => ids.has(job_id),
    choose: ({ job_id }) =>
      setIds((before) => {
        const after = new Set(before);
        if (!after.delete(job_id)) after.add(job_id);
        return after;
      }),
    chooseAll: (isWanted) => setIds(new Set(isWanted ? all.map(({ job_id }) => job_id) : [])),
  };
}

export function RetryChosen({ all, chosen, chooseAll }: ChosenJobs) {
  const { client, notices, queries } = useWorkbench();
  const retry = useMutation({
    mutationFn: async (jobs: readonly Job[]) => {
      let documents = 0;
      for (const job of jobs) {
        const params = { id: job.job_id };
        if (moveOf(job) === 'resume') await client().ask('POST /jobs/:id/resume', { params });
        else {
          const { items_retried = 0 } = await client().ask('POST /jobs/:id/retry', { params });
          documents += items_retried;
        }
      }
      return `${counted(jobs.length, 'job')} and ${counted(documents, 'document')} continue.`;
    },
    onSuccess: (receipt) => notices.tell(receipt),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => {
      chooseAll(false);
      return queries.invalidateQueries({ queryKey: ['jobs'] });
    },
  });
  return (
    <div className="row">
      <label className="switch">
        <input
          type="checkbox"
          checked={all.length > 0 && chosen.length === all.length}
          disabled={all.length === 0}
          onChange={({ target }) => chooseAll(target.checked)}
        />
        Choose all
      </label>
      <button
        type="button"
        className="button"
        disabled={chosen.length === 0 || retry.isPending}
        onClick={() => retry.mutate(chosen)}
      >
        {chosen.length === 0 ? 'Retry' : `Retry ${counted(chosen.length, 'job')}`}
      </button>
    </div>
  );
}
