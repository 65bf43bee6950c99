/** Each source of the attempt, with its progress and its result. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { attemptStatus } from '../../src/kernel/lifecycle/attempt.ts';
import {
  type Attempt,
  forgetSourceMessages,
  refreshAttempt,
  type Staged,
} from '../live/attempt.ts';
import { Badge, type Tone } from '../part/basic.tsx';
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

const shownStep = 200;

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
  const [shown, setShown] = useState(shownStep);
  const ordered = sources.toSorted((one, other) => rankOf(one) - rankOf(other));
  return (
    <div className="card flush">
      <ul aria-label="Sources" data-sources={sources.length}>
        {ordered.slice(0, shown).map((source) => (
          <StagedRow
            key={source.id}
            source={source}
            isStored={isStored(source, status)}
            onRemove={removable.has(source.id) ? () => remove.mutate([source.id]) : undefined}
          />
        ))}
      </ul>
      {sources.length > shown && (
        <p className="entry">
          <button
            type="button"
            className="button quiet"
            onClick={() => setShown(shown + shownStep)}
          >
            {`Show more (${sources.length - shown} left)`}
          </button>
        </p>
      )}
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
const rankOf = ({ status }: Staged): number => (badges[status].tone === 'bad' ? 0 : 1);

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
    <li className="entry wraps" data-source={source.status}>
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
    </li>
  );
}
