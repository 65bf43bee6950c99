/** Deletes the selected documents: one request for many, and progress for more than that. */
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AnswerOf } from '../../src/contract/contract.ts';
import type { Document } from '../../src/contract/schema/schema.ts';
import { Confirm } from '../part/dialog.tsx';
import { count, counted } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

export interface SelectionBarProps {
  readonly corpus: string;
  /** How many documents can be selected, listed or not. */
  readonly total: number;
  /** More documents are being listed, all of which are selected if all are. */
  readonly isReading: boolean;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string> | 'all') => void;
}

export function SelectionBar(props: SelectionBarProps) {
  const { corpus, total, isReading, selected, onSelect } = props;
  const [isAsking, setAsking] = useState(false);
  const { remove, left } = useRemoval(corpus);
  const isRemoving = left !== undefined;
  const start = (): void => {
    onSelect(new Set());
    void remove([...selected]);
  };
  return (
    <span className="row selection" data-left={left}>
      {isRemoving && <span>{`Deleting: ${count(left)} left`}</span>}
      {!isRemoving && selected.size === 0 && (
        <button type="button" className="button quiet" onClick={() => onSelect('all')}>
          {`Select all ${count(total)}`}
        </button>
      )}
      {!isRemoving && selected.size > 0 && (
        <>
          <strong>{`${count(selected.size)} selected`}</strong>
          <button
            type="button"
            className="button danger"
            disabled={isReading}
            onClick={() => setAsking(true)}
          >
            Delete
          </button>
          <button type="button" className="button quiet" onClick={() => onSelect(new Set())}>
            Clear
          </button>
        </>
      )}
      {isAsking && (
        <Confirm
          title={`Delete ${counted(selected.size, 'document')}?`}
          verb="Delete"
          onConfirm={start}
          onClose={() => setAsking(false)}
        >
          Search will not find them. This cannot be undone, but you can add the sources again.
        </Confirm>
      )}
    </span>
  );
}

/** Small enough that the progress is seen to move. */
const atOnce = 200;
type Pages = InfiniteData<AnswerOf<'GET /corpora/:name/documents'>>;

function useRemoval(corpus: string) {
  const { client, notices } = useWorkbench();
  const queries = useQueryClient();
  const [left, setLeft] = useState<number>();
  const remove = async (ids: readonly string[]): Promise<void> => {
    const gone = new Set<string>();
    try {
      while (gone.size < ids.length) {
        setLeft(ids.length - gone.size);
        const next = ids.slice(gone.size, gone.size + atOnce);
        await client().ask('POST /corpora/:name/documents/delete', {
          params: { name: corpus },
          body: { document_ids: next },
        });
        for (const id of next) gone.add(id);
      }
    } catch (error) {
      notices.tell(error instanceof Error ? error.message : String(error), { tone: 'bad' });
    }
    setLeft(undefined);
    if (gone.size > 0) notices.tell(`${counted(gone.size, 'document')} deleted.`);
    queries.setQueriesData<Pages>({ queryKey: ['documents', corpus] }, (pages) =>
      pages ? without(pages, gone) : pages,
    );
    await queries.invalidateQueries({ queryKey: ['corpora'] });
  };
  return { remove, left };
}

function without(pages: Pages, gone: ReadonlySet<string>): Pages {
  const isKept = ({ document_id }: Document): boolean => !gone.has(document_id);
  return {
    ...pages,
    pages: pages.pages.map((page) => ({ ...page, items: page.items.filter(isKept) })),
  };
}
