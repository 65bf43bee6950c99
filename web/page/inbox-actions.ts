/** Retry and discard, for one document or for all with the same cause. */
import { useMutation } from '@tanstack/react-query';
import type { Cause, Chosen, Item } from '../../src/contract/schema/schema.ts';
import { counted, shortSource } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

/** A cause, or one of its documents. */
export interface Choice {
  readonly cause: Cause;
  readonly item?: Item | undefined;
}

export function useInboxActions(corpus: string | undefined) {
  const { client, notices, queries, discards } = useWorkbench();
  const chosenOf = ({ cause, item }: Choice): Chosen =>
    item
      ? { item_ids: [item.item_id] }
      : { cause: cause.fingerprint, ...(corpus !== undefined && { corpus_name: corpus }) };
  const { mutate: retry } = useMutation({
    mutationFn: async (choice: Choice) => {
      // A retry of a cause must not include documents that were just discarded.
      if (!choice.item) await discards.settle();
      return client().ask('POST /inbox/retry', { body: chosenOf(choice) });
    },
    onSuccess: ({ retried }) =>
      notices.tell(`Retrying ${counted(retried, 'document')} from the failed step.`),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['inbox'] }),
  });
  const discard = (choice: Choice): void => {
    const { cause, item } = choice;
    const name = item ? `item ${item.item_id}` : `cause ${cause.fingerprint}`;
    if (discards.names.has(name)) return;
    discards.add({ name, fingerprint: cause.fingerprint, chosen: chosenOf(choice) });
    const what = item ? shortSource(item.source) : counted(cause.count, 'document');
    notices.tell(`Discarded ${what}.`, { undo: () => discards.undo(name) });
  };
  return { retry: (choice: Choice) => retry(choice), discard };
}
