/** Removed documents that can still be brought back. */
import { useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../../../src/contract/contract.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { Problem, Skeleton, Time } from '../../part/basic.tsx';
import { LongList } from '../../part/long-list.tsx';
import { count, counted, shortSource } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';
import { useRestore } from './source-action.ts';
import type { Source } from './source-query.ts';

const rowHeight = 40;
const rowsShown = 6;

export function Removed({ source: { name, removed } }: { source: Source }) {
  const { client } = useWorkbench();
  const restore = useRestore(name);
  const { data, isError, error } = useQuery({
    queryKey: ['sources', name, 'removed', removed],
    queryFn: ({ signal }) =>
      client().ask('GET /sources/:name/removed', {
        params: { name },
        query: { limit: limits.request.pageItemsMax },
        signal,
      }),
  });
  const rows = data?.items ?? [];
  return (
    <section className="card stack" aria-label="Removed documents">
      <div className="row spread">
        <div className="stack tight">
          <h2>{`${counted(removed, 'removed document')}`}</h2>
          <p className="soft">
            {'They can be restored for 7 days, without a new reading. A restored document stays, '}
            {'although its file is gone.'}
            {rows.length < removed && rows.length > 0 && ` The newest ${count(rows.length)}:`}
          </p>
        </div>
        <button
          type="button"
          className="button"
          disabled={restore.isPending}
          onClick={() => restore.mutate(undefined)}
        >
          {removed === 1 ? 'Restore it' : `Restore all ${count(removed)}`}
        </button>
      </div>
      {isError && !data && <Problem error={error} />}
      {!data && !isError && <Skeleton lines={2} />}
      {rows.length > 0 && (
        <RemovedRows
          rows={rows}
          isBusy={restore.isPending}
          onRestore={(key) => restore.mutate([key])}
        />
      )}
    </section>
  );
}

type RemovedDocument = AnswerOf<'GET /sources/:name/removed'>['items'][number];

interface RemovedRowsProps {
  readonly rows: readonly RemovedDocument[];
  readonly isBusy: boolean;
  readonly onRestore: (key: string) => void;
}

function RemovedRows({ rows, isBusy, onRestore }: RemovedRowsProps) {
  return (
    <div className="bounded" style={{ height: Math.min(rows.length, rowsShown) * rowHeight + 2 }}>
      <LongList
        label="Documents that can be restored"
        rows={rows}
        rowHeight={rowHeight}
        keyOf={({ document_id }) => document_id}
        render={({ key, removed_at, restorable_until }) => (
          <div className="change-row removed">
            <span className="cut" title={key} dir="auto">
              {shortSource(key)}
            </span>
            <span className="soft wide">
              removed <Time at={removed_at} />, until <Time at={restorable_until} />
            </span>
            <button
              type="button"
              className="button quiet"
              disabled={isBusy}
              onClick={() => onRestore(key)}
            >
              Restore
            </button>
          </div>
        )}
      />
    </div>
  );
}
