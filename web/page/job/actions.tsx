/** The actions that the lifecycle of a job offers to users, and their confirmations. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Client } from '../../../src/client/http.ts';
import type { AnswerOf } from '../../../src/contract/contract.ts';
import type { JobDetail } from '../../../src/contract/schema/schema.ts';
import { Confirm } from '../../part/dialog.tsx';
import { counted, money } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';

/** The user actions of the job lifecycle. */
type Action = 'cancel' | 'pause' | 'resume' | 'retry';
type Act = (client: Client, id: string) => Promise<string>;

/** Each returns its confirmation text. */
const acts: Readonly<Record<Action, Act>> = {
  cancel: async (client, id) =>
    receiptOf(await client.ask('POST /jobs/:id/cancel', { params: { id } })),
  pause: async (client, id) => {
    await client.ask('POST /jobs/:id/pause', { params: { id } });
    return 'Paused. No document moves until you resume.';
  },
  resume: async (client, id) => {
    await client.ask('POST /jobs/:id/resume', { params: { id } });
    return 'Resumed. Every document continues from its last step.';
  },
  retry: async (client, id) => {
    const { items_retried = 0 } = await client.ask('POST /jobs/:id/retry', { params: { id } });
    return `Retrying ${counted(items_retried, 'document')}, each from its failed step.`;
  },
};

function receiptOf({ stopped, kept, spent }: AnswerOf<'POST /jobs/:id/cancel'>): string {
  return (
    `Canceled. Stopped: ${counted(stopped.items, 'document')}. ` +
    `Kept: ${counted(kept.documents, 'document')} with ${counted(kept.chunks, 'chunk')}. ` +
    `Spent: ${money(spent.cost_cents)}.`
  );
}

const names: Readonly<Record<Action, string>> = {
  cancel: 'Cancel',
  pause: 'Pause',
  resume: 'Resume',
  retry: 'Retry',
};

const isAction = (action: string): action is Action => Object.hasOwn(acts, action);

export function JobActions({ job }: { job: JobDetail }) {
  const { client, queries, notices } = useWorkbench();
  const [isAsking, setAsking] = useState(false);
  const mutation = useMutation({
    mutationFn: (action: Action) => acts[action](client(), job.job_id),
    onSuccess: (receipt) => notices.tell(receipt),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['job', job.job_id] }),
  });
  return (
    <span className="row">
      {job.actions.filter(isAction).map((action) => (
        <button
          key={action}
          type="button"
          className={action === 'cancel' ? 'button danger' : 'button'}
          disabled={mutation.isPending}
          onClick={() => (action === 'cancel' ? setAsking(true) : mutation.mutate(action))}
        >
          {names[action]}
        </button>
      ))}
      {isAsking && (
        <Confirm
          title="Cancel this job?"
          verb="Cancel job"
          onConfirm={() => mutation.mutate('cancel')}
          onClose={() => setAsking(false)}
        >
          Finished documents stay searchable. Open documents stop now and can be retried later.
        </Confirm>
      )}
    </span>
  );
}
