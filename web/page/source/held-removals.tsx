/** Removals that wait for a person, because they are many, or the source was empty. */
import { useState } from 'react';
import { Confirm } from '../../part/dialog.tsx';
import { count, counted } from '../../part/wording.ts';
import { ChangeList } from './run-view.tsx';
import { useSourceAction } from './source-action.ts';
import type { Run, Source } from './source-query.ts';

export function HeldRemovals({ source, run }: { source: Source; run: Run }) {
  const { mutate, isPending } = useSourceAction(source.name);
  const [isAsking, setAsking] = useState(false);
  const documents = counted(source.documents, 'document');
  const removals = counted(run.open, 'removal');
  return (
    <section className="problem held stack" aria-label="Held removals">
      <h2>{run.open === 1 ? '1 removal is held back' : `${removals} are held back`}</h2>
      <p>
        {`The source no longer has ${count(run.open)} of ${documents}. `}
        All other changes are applied. Check that the source is complete: a disk may not be mounted.
      </p>
      <ChangeList run={run} kind="removed" label="To be removed" rowsMax={5} />
      <div className="row">
        <button
          type="button"
          className="button danger"
          disabled={isPending}
          onClick={() => setAsking(true)}
        >
          {`Apply ${removals}`}
        </button>
        <button
          type="button"
          className="button"
          disabled={isPending}
          onClick={() => mutate('ignore')}
        >
          Keep the documents
        </button>
      </div>
      {isAsking && (
        <Confirm
          title={`Remove ${counted(run.open, 'document')}?`}
          verb={`Apply ${removals}`}
          onConfirm={() => mutate('apply')}
          onClose={() => setAsking(false)}
        >
          Search will not find them. They can be restored for 7 days.
        </Confirm>
      )}
    </section>
  );
}
