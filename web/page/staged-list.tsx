/** Each source of the attempt, with its progress and its result. */
import { useMutation } from '@tanstack/react-query';
import { attemptStatus } from '../../src/kernel/lifecycle/attempt.ts';
import {
  type Attempt,
  forgetSourceMessages,
  refreshAttempt,
  type Staged,
} from '../live/attempt.ts';
import { Badge, type Tone } from '../part/basic.tsx';
import { type Group, GroupedList } from '../part/grouped-list.tsx';
import { bytes, counted, shortSource } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

const badges: Readonly<Record<Staged['status'], { tone: Tone; name: string }>> = {
  staged: { tone: 'plain', name: 'waiting' },
  checked: { tone: 'run', name: 'checked' },
  parsed: { tone: 'run', name: 'read' },
  split: { tone: 'ok', name: 'chunked' },
  skipped: { tone: 'plain', name: 'skipped' },
  refused: { tone: 'bad', name: 'skipped' },
  failed: { tone: 'bad', name: 'failed' },
};
const stored = { tone: 'ok', name: 'stored' } as const;
const fetched = { tone: 'run', name: 'fetched' } as const;

const rowHeight = 60;

export interface StagedListProps {
  readonly sources: readonly Staged[];
  readonly status: Attempt['status'];
}

export function StagedList({ sources, status }: StagedListProps) {
  const { client, notices, queries } = useWorkbench();
  const remove = useMutation({
    mutationFn: (ids: readonly string[]) =>
      client().ask('DELETE /staging', { query: { id: ids.join(',') } }),
    onSuccess: (_, ids) => forgetSourceMessages(queries, ids),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
    onSettled: () => refreshAttempt(queries),
  });
  // A source that is being processed cannot be removed, and a stored one is no longer staged.
  const isLocked = status === attemptStatus.running || status === attemptStatus.stopping;
  const left = isLocked ? [] : sources.filter((source) => !isStored(source, status));
  const removable = new Set(left.map(({ id }) => id));
  return (
    <div className="card flush" data-sources={sources.length}>
      <GroupedList
        label="Sources"
        rows={sources}
        rowHeight={rowHeight}
        groupOf={(source) => groupOf(source, status)}
        keyOf={({ id }) => id}
        render={(source) => (
          <StagedRow
            source={source}
            isStored={isStored(source, status)}
            onRemove={removable.has(source.id) ? () => remove.mutate([source.id]) : undefined}
          />
        )}
      />
      {removable.size > 1 && (
        <p className="entry">
          <button
            type="button"
            className="button quiet"
            onClick={() => remove.mutate([...removable])}
          >
            {`Remove all ${removable.size}`}
          </button>
        </p>
      )}
    </div>
  );
}

/** Failed sources come first: somebody has to decide about them. */
function groupOf(source: Staged, status: Attempt['status']): Group {
  const { tone, name } = isStored(source, status) ? stored : badgeOf(source);
  if (tone === 'bad') return { tone, name: 'need you', rank: 0, isOpen: true };
  return { tone, name, rank: 1 };
}

const isStored = ({ status: reached }: Staged, status: Attempt['status']): boolean =>
  status === attemptStatus.complete && reached === 'split';

/** It is uploaded, but only checked together with the others. */
function badgeOf({ status, media_type }: Staged): { tone: Tone; name: string } {
  return status === 'staged' && media_type !== null ? fetched : badges[status];
}

interface StagedRowProps {
  readonly source: Staged;
  readonly isStored: boolean;
  readonly onRemove: (() => void) | undefined;
}

function StagedRow({ source, isStored, onRemove }: StagedRowProps) {
  const badge = isStored ? stored : badgeOf(source);
  const size = [
    ...(source.bytes === null ? [] : [bytes(source.bytes)]),
    ...(source.chunks === null ? [] : [counted(source.chunks, 'chunk')]),
  ];
  return (
    <div className="entry wraps" data-source={source.status}>
      <Badge tone={badge.tone}>{badge.name}</Badge>
      <span className="grow cut" title={source.name}>
        {shortSource(source.name)}
      </span>
      <span className="soft number">{size.join(' · ')}</span>
      {onRemove && (
        <button type="button" className="button quiet" onClick={onRemove}>
          Remove
        </button>
      )}
      {!isStored && source.status !== 'staged' && (
        <span className="soft small line">
          {source.explanation} {source.code && <code>{source.code}</code>}
        </span>
      )}
    </div>
  );
}
