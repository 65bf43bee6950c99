/** The event log of a job, newest first. */
import { memo, useMemo } from 'react';
import type { Event } from '../../../src/contract/schema/schema.ts';
import { useItemLog, useJobLog } from '../../live/job-log.ts';
import { Problem, Skeleton } from '../../part/basic.tsx';
import { LongList } from '../../part/long-list.tsx';
import { count, counted, exactTime, words } from '../../part/wording.ts';

const rowHeight = 24;
const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

export interface EventLogProps {
  readonly jobId: string;
  /** Only events of this document. */
  readonly itemId: number | undefined;
  readonly onAll: () => void;
}

export function EventLog({ jobId, itemId, onAll }: EventLogProps) {
  return itemId === undefined ? (
    <JobEvents jobId={jobId} />
  ) : (
    <ItemEvents itemId={itemId} onAll={onAll} />
  );
}

function JobEvents({ jobId }: { jobId: string }) {
  const { data, isError, error, refetch, readOlder } = useJobLog(jobId);
  if (isError && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton />;
  const { events, hasOlder } = data;
  const more = hasOlder ? ' Older events load as you scroll.' : '';
  return (
    <>
      <p className="soft">{`${count(events.length)} events, newest first.${more}`}</p>
      <EventRows rows={events} onEnd={readOlder} />
    </>
  );
}

function ItemEvents({ itemId, onAll }: { itemId: number; onAll: () => void }) {
  const { data, isError, error, refetch } = useItemLog(itemId);
  const rows = useMemo(() => data?.toReversed() ?? [], [data]);
  if (isError && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton />;
  return (
    <>
      <p className="soft">
        {`${counted(rows.length, 'event')} of document ${itemId}, newest first.`}
        <button type="button" className="button quiet" onClick={onAll}>
          Show events of all documents
        </button>
      </p>
      <EventRows rows={rows} />
    </>
  );
}

interface EventRowsProps {
  readonly rows: readonly Event[];
  readonly onEnd?: () => void;
}

function EventRows({ rows, onEnd }: EventRowsProps) {
  return (
    <div className="log bounded" style={{ height: rows.length * rowHeight + 2 }}>
      <LongList
        label="Events"
        rows={rows}
        rowHeight={rowHeight}
        keyOf={({ seq }) => seq}
        render={(event) => <EventRow event={event} />}
        onEnd={onEnd}
      />
    </div>
  );
}

/** Renders only visible rows. */
const EventRow = memo(function EventRow({ event }: { event: Event }) {
  const { seq, at, kind, item_id, step, attempt, worker, detail } = event;
  const who = [
    item_id !== null && `document ${item_id}`,
    step !== null && words(step),
    attempt !== null && attempt > 1 && `attempt ${attempt}`,
    worker !== null && `by ${worker}`,
  ];
  const more = Object.entries(detail).map(([name, value]) => `${name}=${plain(value)}`);
  return (
    <div className="event" data-seq={seq}>
      <span className="number soft">{seq}</span>
      <time className="wide" dateTime={at} title={exactTime(at)}>
        {clock.format(new Date(at))}
      </time>
      <span>{words(kind)}</span>
      <span className="cut soft">{[...who.filter(Boolean), ...more].join(' · ')}</span>
    </div>
  );
});

function plain(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
