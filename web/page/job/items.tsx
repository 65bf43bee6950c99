/** The documents of a job, failed and active ones first. The selected one opens in a drawer. */

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import type { Item, JobDetail } from '../../../src/contract/schema/schema.ts';
import { place } from '../../../src/kernel/lifecycle/item-wait.ts';
import type { ItemPages } from '../../live/item-list.ts';
import { useJobItems } from '../../live/job-items.ts';
import { Empty, Problem, Skeleton, Time } from '../../part/basic.tsx';
import { LongList } from '../../part/long-list.tsx';
import { type Station, stationNames } from '../../part/pipeline.ts';
import { StepStrip } from '../../part/step-strip.tsx';
import { shortSource } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';
import { ItemDrawer } from './item-drawer.tsx';

const rowHeight = 36;

/** Progress within a step is not an event: it is shown while it arrives, and not stored. */
function useProgress(jobId: string): void {
  const { live, queries } = useWorkbench();
  useEffect(() => {
    return live.watch(({ job_id, item_id, step, done, total }) => {
      if (job_id !== jobId) return;
      const patch = (item: Item): Item =>
        item.item_id === item_id && item.waits_on === place.worker
          ? { ...item, working: { step, done, total } }
          : item;
      queries.setQueriesData<ItemPages>(
        { queryKey: ['items', jobId] },
        (now) =>
          now && {
            ...now,
            pages: now.pages.map((page) => ({ ...page, items: page.items.map(patch) })),
          },
      );
    });
  }, [live, queries, jobId]);
}

export function JobItems({ job }: { job: JobDetail }) {
  useProgress(job.job_id);
  const { item: chosenId, at } = useSearch({ from: '/jobs/$id' });
  const navigate = useNavigate({ from: '/jobs/$id' });
  const { rows, hasNextPage, isFetchingNextPage, fetchNextPage, ...query } = useJobItems(job, at);
  const readOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const only = job.items_total === 1 && at === undefined ? rows[0]?.item_id : undefined;
  const openId = chosenId ?? only;
  const choose = (id: number | undefined): void =>
    void navigate({
      search: (before) => ({ ...before, item: id === chosenId ? undefined : id }),
      replace: true,
    });
  if (query.isError && rows.length === 0) {
    return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  }
  if (query.isPending) return <Skeleton />;
  return (
    <div className={openId === undefined || only !== undefined ? undefined : 'with-drawer'}>
      {only === undefined && rows.length === 0 && <NoItems at={at} />}
      {only === undefined && rows.length > 0 && (
        <div className="bounded" style={{ height: rows.length * rowHeight + 2 }}>
          <LongList
            label="Documents of this job"
            rows={rows}
            rowHeight={rowHeight}
            keyOf={({ item_id }) => item_id}
            render={(item) => (
              <ItemRow item={item} isChosen={item.item_id === openId} onChoose={choose} />
            )}
            onEnd={readOn}
          />
        </div>
      )}
      {openId !== undefined && (
        <ItemDrawer
          key={openId}
          itemId={openId}
          onClose={only === undefined ? () => choose(undefined) : undefined}
        />
      )}
    </div>
  );
}

function NoItems({ at }: { at: Station | undefined }) {
  if (at === undefined) return <Empty title="This job has no documents yet" />;
  return <Empty title={`No document is at “${stationNames[at]}” now`} />;
}

interface ItemRowProps {
  readonly item: Item;
  readonly isChosen: boolean;
  readonly onChoose: (id: number) => void;
}

function ItemRow({ item, isChosen, onChoose }: ItemRowProps) {
  return (
    <button
      type="button"
      className="item-row"
      aria-expanded={isChosen}
      onClick={() => onChoose(item.item_id)}
    >
      <span className="cut" title={item.source}>
        {shortSource(item.source)}
      </span>
      <StepStrip item={item} />
      <span className="cut soft wide" title={item.explanation}>
        {item.error && item.waits_on === null ? item.error.message : item.explanation}
      </span>
      <span className="number soft wide">
        <Time at={item.moved_at} />
      </span>
    </button>
  );
}
