/** The documents of a job. The selected one shows its steps and its explanation. */

import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import type { Item, JobDetail } from '../../src/contract/schema/schema.ts';
import { place } from '../../src/kernel/lifecycle/item-wait.ts';
import { type ItemPages, itemsPerPage } from '../live/item-list.ts';
import { Badge, Empty, Facts, Problem, Skeleton, Time, type Tone } from '../part/basic.tsx';
import { LongList } from '../part/long-list.tsx';
import { StepStrip } from '../part/step-strip.tsx';
import { count, money, shortSource, words } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { Timeline } from './timeline-view.tsx';

const rowHeight = 36;

function useItems(jobId: string) {
  const { client } = useWorkbench();
  return useInfiniteQuery({
    queryKey: ['items', jobId],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      client().ask('GET /jobs/:id/items', {
        params: { id: jobId },
        query: { limit: itemsPerPage, cursor },
        signal,
      }),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
}

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
      queries.setQueryData<ItemPages>(
        ['items', jobId],
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
  const { item: chosenId } = useSearch({ from: '/jobs/$id' });
  const navigate = useNavigate({ from: '/jobs/$id' });
  const query = useItems(job.job_id);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  const readOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const only = rows.length === 1 && !hasNextPage ? rows[0] : undefined;
  const chosen = rows.find(({ item_id }) => item_id === chosenId) ?? only;
  const choose = (id: number): void =>
    void navigate({
      search: (before) => ({ ...before, item: id === chosenId ? undefined : id }),
      replace: true,
    });
  if (query.isError && rows.length === 0) {
    return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  }
  if (query.isPending) return <Skeleton />;
  if (rows.length === 0) return <Empty title="This job has no documents yet" />;
  return (
    <>
      {!only && (
        <div
          style={{
            height: `min(${chosen ? 13 : 24}rem, ${rows.length * rowHeight + 2}px)`,
            display: 'grid',
          }}
        >
          <LongList
            label="Documents of this job"
            rows={rows}
            rowHeight={rowHeight}
            keyOf={({ item_id }) => item_id}
            render={(item) => <ItemRow item={item} isChosen={item === chosen} onChoose={choose} />}
            onEnd={readOn}
          />
        </div>
      )}
      {chosen ? (
        <ItemView item={chosen} />
      ) : (
        <p className="soft">Select a document to see its steps and its status.</p>
      )}
    </>
  );
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
      <span className="cut soft wide">{item.explanation}</span>
      <span className="number soft wide">
        <Time at={item.moved_at} />
      </span>
    </button>
  );
}

const tones: Readonly<Record<string, Tone>> = { done: 'ok', failed: 'bad', canceled: 'plain' };

function ItemView({ item }: { item: Item }) {
  const { error } = item;
  const isOpen = item.waits_on !== null;
  const waits = item.next_retry_at ? (
    <Time at={item.next_retry_at} />
  ) : (
    (item.waits_on ?? 'nothing')
  );
  const facts = [
    { name: 'Waiting for', value: waits, isPlain: true },
    { name: 'Attempt', value: count(item.attempt), isPlain: true },
    { name: 'Worker', value: item.lease?.worker ?? '–', isPlain: true },
    { name: 'Cost', value: money(item.cost_cents), isPlain: true },
    { name: 'Tokens', value: count(item.tokens.in + item.tokens.out), isPlain: true },
    { name: 'Last change', value: <Time at={item.moved_at} />, isPlain: true },
  ];
  return (
    <section className="card stack" aria-label="Selected document">
      <div className="row spread">
        <span className="row">
          <Badge tone={tones[item.step] ?? 'run'}>{words(item.step)}</Badge>
          <h2>{shortSource(item.source)}</h2>
        </span>
        <ItemActions item={item} />
      </div>
      <p data-explanation>{item.explanation}</p>
      {item.working && <Working working={item.working} />}
      {error && (
        <div className="problem">
          <h3>
            {error.message} <code className="soft">{error.code}</code>
          </h3>
          <p className="soft">{item.advice}</p>
        </div>
      )}
      <Facts facts={facts} />
      <Timeline item={item} isOpen={isOpen} />
    </section>
  );
}

function Working({ working }: { working: NonNullable<Item['working']> }) {
  const { step, done, total } = working;
  const text = `${words(step)}: ${count(done)} of ${count(total)}`;
  return (
    <div className="row">
      <span className="grow meter" role="img" aria-label={text}>
        <span style={{ width: `${total === 0 ? 0 : (done / total) * 100}%` }} />
      </span>
      <span className="soft number">{text}</span>
    </div>
  );
}

function ItemActions({ item }: { item: Item }) {
  const { client, notices } = useWorkbench();
  const retry = useMutation({
    mutationFn: () => client().ask('POST /inbox/retry', { body: { item_ids: [item.item_id] } }),
    onSuccess: () => notices.tell(`Retrying ${shortSource(item.source)}.`),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
  });
  return (
    <span className="row">
      {item.actions.includes('retry') && (
        <button
          type="button"
          className="button"
          disabled={retry.isPending}
          onClick={() => retry.mutate()}
        >
          Retry
        </button>
      )}
      <Link
        to="/jobs/$id"
        params={{ id: item.job_id }}
        search={{ tab: 'events', item: item.item_id }}
        className="button"
      >
        Events
      </Link>
      {item.reached.includes('indexed') && (
        <Link to="/documents/$id" params={{ id: item.document_id }} className="button">
          Open document
        </Link>
      )}
    </span>
  );
}
