/** Deletes a corpus. Of a large one, the documents that are left are counted down. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirm } from '../part/dialog.tsx';
import { count, counted } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

export function DeleteCorpus({ name, documents }: { name: string; documents: number }) {
  const { client, notices, queries } = useWorkbench();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const [total, setTotal] = useState(0);
  const remove = useMutation({
    mutationFn: () => client().ask('DELETE /corpora/:name', { params: { name } }),
    onMutate: () => setTotal(documents),
    onSuccess: async () => {
      notices.tell(`${name} was deleted with ${counted(total, 'document')}.`);
      await navigate({ to: '/corpora' });
      await queries.invalidateQueries({ queryKey: ['corpora'] });
    },
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
  });
  return (
    <>
      {remove.isPending ? (
        <Progress name={name} total={total} />
      ) : (
        <button type="button" className="button danger" onClick={() => setAsking(true)}>
          Delete
        </button>
      )}
      {isAsking && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete"
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        >
          {counted(documents, 'document')} will be removed from search. This cannot be undone, but
          you can add the sources again.
        </Confirm>
      )}
    </>
  );
}

const everyMs = 500;

/** The corpus shrinks document by document, and its own count says how far it is. */
function Progress({ name, total }: { name: string; total: number }) {
  const { client } = useWorkbench();
  const { data } = useQuery({
    queryKey: ['deleting', name],
    queryFn: ({ signal }) => client().ask('GET /corpora/:name', { params: { name }, signal }),
    refetchInterval: everyMs,
    staleTime: 0,
    retry: false,
  });
  const done = total - Math.min(data?.documents ?? total, total);
  return (
    <span className="row deleting" role="status" data-deleted={done}>
      <span>{`Deleting: ${count(done)} of ${count(total)}`}</span>
      <span className="meter" aria-hidden="true">
        <span className="failed" style={{ width: `${(done / Math.max(total, 1)) * 100}%` }} />
      </span>
    </span>
  );
}
